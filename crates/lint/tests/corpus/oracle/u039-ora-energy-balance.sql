-- form: script
-- expect: none
CREATE OR REPLACE PROCEDURE eba.load_balance (p_day IN DATE) IS
  -- p_day is set by the scheduler chain; SYSDATE must not be used in here (audit finding 2022-17)
BEGIN
  MERGE INTO eba.balance_day b
  USING (
      SELECT m.delivery_day,
             m.balance_group,
             SUM(CASE WHEN m.direction = 'IN'  THEN m.mwh ELSE 0 END) AS mwh_in,
             SUM(CASE WHEN m.direction = 'OUT' THEN m.mwh ELSE 0 END) AS mwh_out
        FROM eba.meter_quarter m
       WHERE m.delivery_day = p_day
         AND m.balance_group IS NOT NULL
       GROUP BY m.delivery_day, m.balance_group
  ) q
  ON (b.delivery_day = q.delivery_day AND b.balance_group = q.balance_group)
  WHEN MATCHED THEN UPDATE
     SET b.mwh_in  = q.mwh_in,
         b.mwh_out = q.mwh_out
  WHEN NOT MATCHED THEN INSERT (delivery_day, balance_group, mwh_in, mwh_out)
     VALUES (q.delivery_day, q.balance_group, q.mwh_in, q.mwh_out);

  COMMIT;
EXCEPTION
  WHEN OTHERS THEN
    ROLLBACK;
    RAISE;
END load_balance;
/
