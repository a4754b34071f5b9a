-- form: script
-- expect: OM202 error `row_number() OVER (PARTITION BY mmsi)`
CREATE OR REPLACE TABLE ships AS
FROM ais_static
SELECT mmsi, ship_name, ship_type
QUALIFY row_number() OVER (PARTITION BY mmsi) = 1;
