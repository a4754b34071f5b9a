-- form: script
-- expect: none
BEGIN;
DELETE FROM mart.trip_hour WHERE hour_start >= $from AND hour_start < $to;
INSERT INTO mart.trip_hour
    (hour_start, zone, trips, fares)
SELECT time_bucket(INTERVAL 1 HOUR, pickup_at) AS hour_start,
       zone,
       count(*),
       sum(fare)
FROM stg.trip
WHERE pickup_at >= $from AND pickup_at < $to
GROUP BY 1, 2;
COMMIT;
