-- form: script
-- expect: none
-- because: Oracle DML is one transaction until COMMIT; the same cob_date is deleted and inserted, LISTAGG is ordered by the value itself, SYSTIMESTAMP only stamps load_ts.
CREATE OR REPLACE PROCEDURE risk.load_position_day (p_cob_date IN DATE) AS
  l_rows PLS_INTEGER;
BEGIN
  DELETE FROM risk.position_day
   WHERE cob_date = p_cob_date;

  INSERT INTO risk.position_day
    (cob_date, book_id, isin, quantity, notional, trade_refs, load_ts)
  SELECT t.cob_date,
         t.book_id,
         t.isin,
         SUM(CASE t.side WHEN 'B' THEN t.quantity ELSE -t.quantity END),
         SUM(t.notional),
         LISTAGG(t.trade_ref, ';') WITHIN GROUP (ORDER BY t.trade_ref),
         SYSTIMESTAMP
    FROM risk.trade_day t
   WHERE t.cob_date = p_cob_date
   GROUP BY t.cob_date, t.book_id, t.isin;

  l_rows := SQL%ROWCOUNT;
  DBMS_OUTPUT.PUT_LINE('position_day ' || TO_CHAR(p_cob_date, 'YYYY-MM-DD') || ': ' || l_rows);
  COMMIT;
EXCEPTION
  WHEN OTHERS THEN
    ROLLBACK;
    RAISE;
END load_position_day;
/
