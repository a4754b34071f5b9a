-- form: model
-- expect: OM407 error `lag(r.value) OVER (PARTITION BY r.sensor ORDER BY r.read_at, r.reading_id)`
/* oncemore
kind: slice
interval: day
time: read_at
key: [reading_id]
*/
SELECT r.reading_id, r.sensor, r.read_at,
       r.value - lag(r.value) OVER (PARTITION BY r.sensor ORDER BY r.read_at, r.reading_id) AS step
FROM raw.reading AS r
WHERE r.read_at >= :interval_start AND r.read_at < :interval_end
