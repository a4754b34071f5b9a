-- form: script
-- expect: OM301 error `INSERT INTO iot.alerts`
-- expect: OM101 error `now()`
INSERT INTO iot.alerts (device_id, minute, max_value)
SELECT device_id, toStartOfMinute(read_at) AS minute, max(value) AS max_value
FROM iot.reading
WHERE read_at >= now() - INTERVAL 5 MINUTE
GROUP BY device_id, minute
HAVING max_value > 90;
