-- form: model
-- expect: OM401 error `t.departed_at >= :interval_start`
/* oncemore
kind: slice
interval: day
time: departed_at
key: [trip_id]
*/
SELECT t.trip_id, t.line, t.departed_at, t.delay_s, s.name AS stop_name
FROM raw.trip AS t
LEFT JOIN ref.stop AS s ON s.stop_id = t.stop_id
WHERE t.departed_at >= :interval_start
