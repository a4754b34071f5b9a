-- form: script
-- expect: none
-- tram dwell times: previous stop is needed, so read one day more and cut afterwards
-- params: day  (yyyy-mm-dd)
WITH stops AS (
  SELECT
    trip_id,
    stop_seq,
    stop_id,
    service_day,
    arr_sec,
    dep_sec,
    LAG(dep_sec) OVER (
        PARTITION BY service_day, trip_id
        ORDER BY stop_seq
    ) AS prev_dep_sec
  FROM transit.stop_event          -- PK (service_day, trip_id, stop_seq)
  WHERE service_day BETWEEN date_sub(DATE'${day}', 1) AND DATE'${day}'
)
INSERT INTO transit.dwell
REPLACE WHERE service_day = DATE'${day}'
SELECT
  trip_id,
  stop_seq,
  stop_id,
  service_day,
  dep_sec - arr_sec       AS dwell_sec,
  arr_sec - prev_dep_sec  AS run_sec
FROM stops
WHERE service_day = DATE'${day}';
