-- form: script
-- expect: OM407 warning `LAG(r.kwh) OVER (PARTITION BY r.meter_id, r.register_no ORDER BY r.read_seq)`
-- because: only the rows of one day are read, so the first reading of each day has no predecessor and its delta is NULL; a two-day run gives another result
-- Databricks notebook source
-- consumption = difference to the previous register value of the same meter
-- widget: reading_date

INSERT OVERWRITE TABLE grid.meter_delta PARTITION (reading_date = '${reading_date}')
SELECT
  r.meter_id,
  r.register_no,
  r.read_seq,
  r.kwh - LAG(r.kwh) OVER (PARTITION BY r.meter_id, r.register_no
                           ORDER BY r.read_seq) AS delta_kwh,
  r.quality_flag
FROM grid.meter_reading r
JOIN grid.meter m
  ON m.meter_id = r.meter_id
WHERE r.reading_date = '${reading_date}'
  AND r.quality_flag <> 'REJ'
  AND m.commissioned = true;
