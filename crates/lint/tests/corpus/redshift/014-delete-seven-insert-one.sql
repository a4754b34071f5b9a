-- form: script
-- expect: OM404 error `ride_day > DATEADD(day, -7, :run_date)`
BEGIN;
DELETE FROM mart.ride_day WHERE ride_day > DATEADD(day, -7, :run_date);
INSERT INTO mart.ride_day (ride_day, city, rides)
SELECT ride_day, city, COUNT(*)
FROM ods.ride
WHERE ride_day = :run_date
GROUP BY ride_day, city;
COMMIT;
