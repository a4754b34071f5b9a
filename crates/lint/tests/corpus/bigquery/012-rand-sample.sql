-- form: script
-- expect: OM105 error `RAND()`
CREATE OR REPLACE TABLE ml.test_rows AS
SELECT ride_id, distance_km, fare, pickup_zone
FROM raw.rides
WHERE RAND() < 0.2;
