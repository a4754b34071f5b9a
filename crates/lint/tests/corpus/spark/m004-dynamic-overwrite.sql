-- form: script
-- expect: none
SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE TABLE gold.meter_day PARTITION (read_date)
SELECT meter_id, sum(kwh) AS kwh, max(kwh) AS peak, read_date
FROM silver.reading
WHERE read_date = '${run_date}'
GROUP BY meter_id, read_date;
