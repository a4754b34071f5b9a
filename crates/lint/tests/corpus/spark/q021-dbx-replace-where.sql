-- form: script
-- expect: none
-- because: INSERT ... REPLACE WHERE atomically swaps exactly the slice the query reads; the set is sorted before it is stored and max_by breaks ties by trip_id.
-- Databricks SQL task; parameters :start and :end are DATEs, half open
INSERT INTO prod.gold.trip_day
REPLACE WHERE trip_date >= :start AND trip_date < :end
SELECT
  t.trip_date,
  t.vehicle_id,
  count(*)                                       AS trips,
  sum(t.distance_m)                              AS distance_m,
  concat_ws(',', array_sort(collect_set(t.zone))) AS zones,
  max_by(t.driver_id, struct(t.ended_at, t.trip_id)) AS last_driver_id
FROM prod.silver.trip AS t
WHERE t.trip_date >= :start
  AND t.trip_date <  :end
  AND t.is_deleted = false
GROUP BY t.trip_date, t.vehicle_id;

OPTIMIZE prod.gold.trip_day WHERE trip_date >= :start AND trip_date < :end;
