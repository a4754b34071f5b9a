-- form: script
-- expect: none
-- Tarifpflege: Bruttopreise und Obergrenzen
-- beliebig oft wiederholbar, alle Werte werden aus anderen Spalten berechnet
BEGIN
  UPDATE tar.tariff t
  SET    t.gross_cents = ROUND(t.net_price * 100 * (1 + t.vat_pct / 100)),
         t.label       = UPPER(TRIM(t.label)),
         t.max_kwh     = GREATEST(t.max_kwh, 0)
  WHERE  t.valid_from <= TO_DATE('&stichtag', 'YYYY-MM-DD')
  AND    t.valid_to   >  TO_DATE('&stichtag', 'YYYY-MM-DD');

  MERGE INTO tar.tariff_usage u
  USING (SELECT c.tariff_id,
                c.bill_month,
                COUNT(*)   AS contracts,
                SUM(c.kwh) AS kwh
         FROM   tar.contract_bill c
         WHERE  c.bill_month = TO_DATE('&stichtag', 'YYYY-MM-DD')
         AND    c.tariff_id IS NOT NULL
         GROUP  BY c.tariff_id, c.bill_month) s
  ON (u.tariff_id = s.tariff_id AND u.bill_month = s.bill_month)
  WHEN MATCHED THEN UPDATE SET u.contracts = s.contracts, u.kwh = s.kwh
  WHEN NOT MATCHED THEN INSERT (tariff_id, bill_month, contracts, kwh)
       VALUES (s.tariff_id, s.bill_month, s.contracts, s.kwh);
  COMMIT;
END;
/
