-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
-- because: The source holds one day only, so every row of every other day is 'not matched by source' and is deleted by each run.
MERGE INTO gold.shop_sales AS t
USING (
  SELECT
    s.shop_id,
    s.sale_date,
    sum(s.amount)              AS amount,
    count(DISTINCT s.receipt)  AS receipts
  FROM silver.sales_line AS s
  WHERE s.sale_date = date '${run_date}'
    AND s.shop_id IS NOT NULL
  GROUP BY s.shop_id, s.sale_date
) AS src
ON  t.shop_id = src.shop_id
AND t.sale_date = src.sale_date
WHEN MATCHED THEN UPDATE SET
  t.amount = src.amount,
  t.receipts = src.receipts,
  t.modified_at = current_timestamp()
WHEN NOT MATCHED THEN INSERT (shop_id, sale_date, amount, receipts, modified_at)
  VALUES (src.shop_id, src.sale_date, src.amount, src.receipts, current_timestamp())
WHEN NOT MATCHED BY SOURCE THEN DELETE;
