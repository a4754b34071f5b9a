-- form: script
-- expect: OM308 warning `t.variant = s.variant`
MERGE INTO gold.price AS t
USING (
  SELECT sku, nullif(variant, '') AS variant, max(price) AS price
  FROM silver.price
  GROUP BY sku, nullif(variant, '')
) AS s
ON t.sku = s.sku AND t.variant = s.variant
WHEN MATCHED THEN UPDATE SET t.price = s.price
WHEN NOT MATCHED THEN INSERT (sku, variant, price) VALUES (s.sku, s.variant, s.price);
