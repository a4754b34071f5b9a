-- form: script
-- expect: OM403 error `load_dt = '${load_dt}'`
SET spark.sql.sources.partitionOverwriteMode=dynamic;

INSERT OVERWRITE TABLE gold.payments PARTITION (pay_date)
SELECT payment_id, amount, method, pay_date
FROM silver.payments
WHERE load_dt = '${load_dt}';
