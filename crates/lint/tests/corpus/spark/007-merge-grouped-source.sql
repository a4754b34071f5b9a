-- form: script
-- expect: none
MERGE INTO gold.store_day t
USING (
  SELECT store_id, sale_day, SUM(amount) AS amount, COUNT(*) AS tickets
  FROM silver.sale
  WHERE sale_day >= '${from}' AND sale_day < '${to}'
  GROUP BY store_id, sale_day
) s
ON t.store_id = s.store_id AND t.sale_day = s.sale_day
WHEN MATCHED THEN UPDATE SET t.amount = s.amount, t.tickets = s.tickets
WHEN NOT MATCHED THEN INSERT (store_id, sale_day, amount, tickets) VALUES (s.store_id, s.sale_day, s.amount, s.tickets);
