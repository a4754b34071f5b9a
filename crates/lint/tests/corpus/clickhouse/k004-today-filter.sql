-- form: script
-- expect: OM101 error `today()`
CREATE OR REPLACE TABLE rpt.active_install ENGINE = MergeTree ORDER BY app_id AS
SELECT app_id, uniqExact(device_id) AS devices
FROM raw.heartbeat
WHERE beat_date > today() - 30
GROUP BY app_id;
