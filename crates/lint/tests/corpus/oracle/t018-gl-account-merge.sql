-- form: script
-- expect: OM306 error `MERGE INTO fin.gl_balance`
-- expect: OM408 warning `p.posting_date >= DATE '2025-06-01' AND p.posting_date < DATE '2025-07-01'`
-- because: the month is written into the script, another month cannot be addressed and a later run closes the wrong one insert-only merge: a corrected posting never changes a stored balance
-- Monatsabschluss: neue Konten in die Saldentabelle
-- Aufruf durch UC4, Job FIN_0421
BEGIN
  MERGE INTO fin.gl_balance b
  USING (
    SELECT p.ledger_id,
           p.account_no,
           SUM(p.amount) AS amount
    FROM   fin.gl_posting p
    WHERE  p.posting_date >= DATE '2025-06-01'
    AND    p.posting_date <  DATE '2025-07-01'
    AND    p.account_no IS NOT NULL
    AND    p.ledger_id  IS NOT NULL
    GROUP  BY p.ledger_id, p.account_no
  ) s
  ON (b.ledger_id = s.ledger_id AND b.account_no = s.account_no
      AND b.period = '2025-06')
  WHEN NOT MATCHED THEN
    INSERT (ledger_id, account_no, period, amount, created_on)
    VALUES (s.ledger_id, s.account_no, '2025-06', s.amount, SYSDATE);
  COMMIT;
END;
/
