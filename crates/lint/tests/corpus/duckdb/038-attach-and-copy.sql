-- form: script
-- expect: none
INSTALL httpfs;
LOAD httpfs;
ATTACH IF NOT EXISTS 'warehouse.duckdb' AS wh;

CREATE OR REPLACE TABLE wh.main.zone_hour AS
SELECT zone, hour, count(*) AS pickups
FROM (FROM wh.main.trips SELECT zone, extract('hour' FROM pickup_at) AS hour)
GROUP BY ALL;
