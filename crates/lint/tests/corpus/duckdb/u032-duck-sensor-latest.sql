-- form: script
-- expect: OM110 warning `read_parquet('s3://plant-iot/readings/*/*.parquet', union_by_name = true)`
-- expect: OM204 warning `arg_max(value, read_at)`
-- expect: OM204 warning `arg_max(status, read_at)`
-- because: the glob takes in whatever lies there at the time of the run. two readings of one sensor at the same time, the winner depends on scan order.
-- build the "latest reading" table for the dashboard
-- usage: duckdb prod.duckdb < latest.sql
INSTALL httpfs; LOAD httpfs;

CREATE OR REPLACE TABLE latest_reading AS
WITH r AS (
    SELECT sensor_id, read_at, value, unit, status
    FROM read_parquet('s3://plant-iot/readings/*/*.parquet', union_by_name = true)
    WHERE value IS NOT NULL
)
SELECT
    sensor_id,
    max(read_at)             AS read_at,
    arg_max(value, read_at)  AS value,
    arg_max(status, read_at) AS status,
    min(unit)                AS unit
FROM r
GROUP BY sensor_id;
