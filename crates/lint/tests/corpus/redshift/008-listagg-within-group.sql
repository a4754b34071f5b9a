-- form: script
-- expect: none
DROP TABLE IF EXISTS mart.route_text;
CREATE TABLE mart.route_text AS
WITH legs AS (
  SELECT trip_id, leg_no, origin_code FROM ods.trip_leg WHERE NOT cancelled
)
SELECT trip_id,
       LISTAGG(origin_code, '-') WITHIN GROUP (ORDER BY leg_no, origin_code) AS route
FROM legs
GROUP BY trip_id;
