-- form: script
-- expect: none
BEGIN;
DELETE FROM mart.ride_week
WHERE ride_day > DATEADD(day, -7, :run_date) AND ride_day <= :run_date;
INSERT INTO mart.ride_week (ride_day, city, rides)
SELECT ride_day, city, COUNT(*)
FROM ods.ride
WHERE ride_day > DATEADD(day, -7, :run_date) AND ride_day <= :run_date
GROUP BY ride_day, city;
COMMIT;
