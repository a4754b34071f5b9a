-- form: script
-- expect: OM409 error `INSERT OVERWRITE TABLE gold.meter_hour`
SET spark.sql.shuffle.partitions = 200;
INSERT OVERWRITE TABLE gold.meter_hour
SELECT meter_id, date_trunc('HOUR', to_utc_timestamp(read_at, 'UTC')) AS hour, sum(kwh) AS kwh, read_date
FROM silver.reading
WHERE read_date = '${run_date}'
GROUP BY meter_id, date_trunc('HOUR', to_utc_timestamp(read_at, 'UTC')), read_date;
