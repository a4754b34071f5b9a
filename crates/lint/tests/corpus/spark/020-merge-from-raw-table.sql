-- form: script
-- expect: OM307 warning `USING bronze.customer_cdc…`
MERGE INTO silver.customer AS t
USING bronze.customer_cdc AS s
ON t.customer_id = s.customer_id
WHEN MATCHED AND s.op = 'D' THEN DELETE
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED AND s.op <> 'D' THEN INSERT *;
