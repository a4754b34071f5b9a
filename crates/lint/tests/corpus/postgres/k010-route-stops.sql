-- form: script
-- expect: none
BEGIN;
TRUNCATE gtfs.route_pattern;
INSERT INTO gtfs.route_pattern (route_id, direction, stops, n_stops)
SELECT t.route_id,
       t.direction_id,
       string_agg(s.stop_name, ' > ' ORDER BY st.stop_sequence, st.stop_id),
       count(*)
FROM   gtfs.trip t
JOIN   gtfs.stop_time st ON st.trip_id = t.trip_id
JOIN   gtfs.stop s       ON s.stop_id  = st.stop_id
WHERE  t.is_reference
GROUP  BY t.route_id, t.direction_id;
COMMIT;
