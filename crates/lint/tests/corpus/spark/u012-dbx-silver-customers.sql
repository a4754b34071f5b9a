-- form: script
-- expect: OM307 warning `USING ( SELECT customer_id, trim(full_name) AS full_name, lower(email) AS email, …`
-- expect: OM319 warning `WHEN MATCHED THEN UPDATE`
-- because: repairing an old ingest_date puts that day's address over a newer one. a CDC feed holds several changes of one customer per day, the merge fails or depends on luck.
-- Databricks notebook source
-- MAGIC %md ## silver.customers  (from autoloader bronze)
-- COMMAND ----------
USE CATALOG prod;
-- COMMAND ----------
MERGE INTO silver.customers AS t
USING (
  SELECT
    customer_id,
    trim(full_name)      AS full_name,
    lower(email)         AS email,
    address.city         AS city,
    address.zip          AS zip,
    updated_at
  FROM bronze.customers_cdc
  WHERE ingest_date = '${run_date}'
    AND customer_id IS NOT NULL
) AS s
ON t.customer_id = s.customer_id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
