-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: read_at
key: [meter_id, read_at]
*/
WITH wide AS (
  SELECT r.meter_id, r.read_at, r.kwh_total,
         lag(r.kwh_total) OVER (PARTITION BY r.meter_id ORDER BY r.read_at) AS before_total
  FROM (SELECT meter_id, read_at, max(kwh_total) AS kwh_total FROM raw.meter_reads GROUP BY meter_id, read_at) AS r
  WHERE r.read_at >= :interval_start - INTERVAL '2 days' AND r.read_at < :interval_end
)
SELECT meter_id, read_at, kwh_total - before_total AS kwh
FROM wide
WHERE read_at >= :interval_start AND read_at < :interval_end
