-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY updated_at DESC)`
MERGE INTO silver.customer AS t
USING (SELECT * FROM bronze.customer WHERE ingest_date = '${day}' QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY updated_at DESC) = 1) AS s
ON t.customer_id <=> s.customer_id
WHEN MATCHED AND s.updated_at >= t.updated_at THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
