-- form: model
-- expect: OM407 error `lag(r.kwh_total) OVER (PARTITION BY r.meter_id ORDER BY r.read_at)`
/* oncemore
kind: slice
interval: day
time: read_at
key: [meter_id, read_at]
*/
SELECT r.meter_id, r.read_at,
       r.kwh_total - lag(r.kwh_total) OVER (PARTITION BY r.meter_id ORDER BY r.read_at) AS kwh
FROM raw.meter_reads AS r
WHERE r.read_at >= :interval_start AND r.read_at < :interval_end
