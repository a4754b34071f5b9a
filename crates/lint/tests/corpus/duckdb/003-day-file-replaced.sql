-- form: script
-- expect: none
BEGIN;
DELETE FROM readings WHERE day = $day;
INSERT INTO readings BY NAME
SELECT station, day, hour, pm10
FROM read_csv('lake/readings/' || $day || '.csv', header = true)
WHERE day = $day;
COMMIT;
