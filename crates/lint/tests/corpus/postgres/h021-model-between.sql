-- form: model
-- expect: OM402 error `m.measured_at BETWEEN :interval_start AND :interval_end`
/* oncemore
kind: slice
interval: day
time: measured_at
key: [station, measured_at]
*/
SELECT m.station, m.measured_at, avg(m.no2) AS no2
FROM raw.air_quality AS m
WHERE m.measured_at BETWEEN :interval_start AND :interval_end
  AND m.is_valid
GROUP BY m.station, m.measured_at
