-- form: script
-- expect: OM408 warning `day = DATE '2023-11-05'`
CREATE OR REPLACE TABLE pm10_day AS
SELECT station, day, avg(value)::DECIMAL(8, 2) AS value
FROM raw.pm10
WHERE day = DATE '2023-11-05'
GROUP BY station, day;
