-- form: script
-- expect: OM408 warning `day = DATE '2023-11-05'`
-- expect: OM408 warning `day = DATE '2023-11-05'`
BEGIN;
DELETE FROM pm10 WHERE day = DATE '2023-11-05';
INSERT INTO pm10 (station, day, value)
SELECT station, day, avg(value)::DECIMAL(8, 2)
FROM raw.pm10
WHERE day = DATE '2023-11-05'
GROUP BY station, day;
COMMIT;
