-- form: script
-- expect: none
-- because: INSERT ... REPLACE WHERE is one atomic commit whose predicate equals the source filter on the same DATE column; SELECT DISTINCT with columns listed.
-- Databricks SQL task, parameter: run_day (yyyy-MM-dd)
INSERT INTO mobility.silver.trip
REPLACE WHERE trip_date = DATE'{{ run_day }}'
SELECT DISTINCT
       b.trip_id,
       b.vehicle_id,
       b.rider_id,
       b.start_ts,
       b.end_ts,
       b.distance_m,
       z.zone_code      AS start_zone,
       b.trip_date
FROM   mobility.bronze.trip_feed AS b
LEFT JOIN mobility.ref.zone AS z
       ON z.cell_id = b.start_cell
WHERE  b.trip_date = DATE'{{ run_day }}'
  AND  b.trip_id IS NOT NULL;
