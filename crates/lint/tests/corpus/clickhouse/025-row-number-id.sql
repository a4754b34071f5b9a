-- form: script
-- expect: OM202 error `row_number() OVER ()`
-- expect: OM106 warning `row_number() OVER ()`
CREATE OR REPLACE TABLE ref.station
ENGINE = MergeTree ORDER BY station_no
AS
SELECT row_number() OVER () AS station_no, code, name
FROM raw.station;
