-- form: script
-- expect: OM101 error `now()`
-- because: the window is seen from the clock; the upsert itself is keyed by day
-- Nightly rollup of sensor readings, kept per device and day.
INSERT INTO telemetry.device_day (device_id, day, readings, max_temp)
SELECT r.device_id,
       r.read_at::date AS day,
       count(*) AS readings,
       max(r.temp) AS max_temp
FROM telemetry.reading r
JOIN telemetry.device d ON d.device_id = r.device_id
WHERE r.read_at >= date_trunc('day', now() - interval '2 days')
  AND d.retired_on IS NULL
GROUP BY r.device_id, r.read_at::date
ON CONFLICT (device_id, day)
DO UPDATE SET readings = EXCLUDED.readings,
              max_temp = EXCLUDED.max_temp;
