-- form: script
-- expect: OM101 error `CURRENT_DATE('UTC')`
DECLARE yesterday DATE DEFAULT DATE_SUB(CURRENT_DATE('UTC'), INTERVAL 1 DAY);

BEGIN TRANSACTION;
DELETE FROM mart.tram_day WHERE ride_day = yesterday;
INSERT INTO mart.tram_day (ride_day, line, rides)
SELECT ride_day, line, COUNT(*)
FROM raw.tram_rides
WHERE ride_day = yesterday
GROUP BY ride_day, line;
COMMIT TRANSACTION;
