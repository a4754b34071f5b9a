-- form: script
-- expect: none
DROP TABLE IF EXISTS mart.seat_day;
CREATE TABLE mart.seat_day AS
SELECT s.seat_id, g.d::date AS day, row_number() OVER (PARTITION BY s.seat_id ORDER BY g.d) AS n
FROM (SELECT seat_id, min(from_day) AS a, max(to_day) AS b FROM raw.seat GROUP BY seat_id) s CROSS JOIN LATERAL generate_series(s.a, s.b, interval '1 day') AS g(d);
