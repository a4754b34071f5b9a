-- form: script
-- expect: none
DROP TABLE IF EXISTS gis.nearest_stop;
CREATE TABLE gis.nearest_stop AS
SELECT b.building_id, n.stop_id, n.metres
FROM gis.building b
CROSS JOIN LATERAL (
    SELECT s.stop_id, ST_Distance(s.geom, b.geom) AS metres
    FROM gis.stop s
    ORDER BY s.geom <-> b.geom, s.stop_id
    LIMIT 1
) n;
