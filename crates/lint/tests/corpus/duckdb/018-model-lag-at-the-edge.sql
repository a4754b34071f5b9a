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
FROM (
  SELECT meter_id, read_at, max(kwh_total) AS kwh_total
  FROM raw.meter_reads
  WHERE read_at >= :interval_start AND read_at < :interval_end
  GROUP BY meter_id, read_at
) AS r
