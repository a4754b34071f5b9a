-- form: script
-- expect: OM101 error `today()`
CREATE OR REPLACE TABLE dash.active_devices
ENGINE = MergeTree ORDER BY tenant AS
SELECT tenant, uniqExact(device_id) AS devices
FROM iot.ping
WHERE ping_date >= today() - 14
GROUP BY tenant;
