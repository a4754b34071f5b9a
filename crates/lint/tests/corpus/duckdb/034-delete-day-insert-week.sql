-- form: script
-- expect: OM405 error `day > $day - INTERVAL 7 DAYS AND day <= $day`
BEGIN;
DELETE FROM tide_day WHERE day = $day;
INSERT INTO tide_day (station, day, high_cm)
SELECT station, day, max(level_cm)
FROM raw.tide
WHERE day > $day - INTERVAL 7 DAYS AND day <= $day
GROUP BY station, day;
COMMIT;
