-- form: script
-- expect: OM301 error `INSERT INTO TABLE iot.telemetry_hourly`
-- expect: OM106 warning `monotonically_increasing_id()`
-- because: INSERT INTO a partition appends, an oozie retry doubles the hour. the key of the same reading changes with partitioning and with each run.
-- telemetry_hourly.sql, submitted by oozie with --hivevar day / hour
CREATE TABLE IF NOT EXISTS iot.telemetry_hourly (
    row_key     BIGINT,
    device_id   STRING,
    metric      STRING,
    readings    BIGINT,
    min_value   DECIMAL(18,4),
    max_value   DECIMAL(18,4)
)
USING parquet
PARTITIONED BY (day STRING, hour STRING);

INSERT INTO TABLE iot.telemetry_hourly PARTITION (day = '${day}', hour = '${hour}')
SELECT
    monotonically_increasing_id()  AS row_key,
    device_id,
    metric,
    count(*),
    min(value),
    max(value)
FROM   iot.telemetry_raw
WHERE  day = '${day}'
  AND  hour = '${hour}'
  AND  value IS NOT NULL
GROUP BY device_id, metric;
