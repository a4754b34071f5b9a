-- form: script
-- expect: OM204 warning `any_value(name)`
CREATE OR REPLACE TABLE stations AS
SELECT station_id, any_value(name) AS name, count(*) AS rides
FROM raw.rides
GROUP BY station_id;
