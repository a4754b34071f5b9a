-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.seat_day AS
SELECT s.seat_id, d AS day, LAG(d) OVER (PARTITION BY s.seat_id ORDER BY d) AS day_before
FROM (SELECT seat_id, MIN(from_day) AS a, MAX(to_day) AS b FROM raw.seat GROUP BY seat_id) s, UNNEST(GENERATE_DATE_ARRAY(s.a, s.b)) AS d;
