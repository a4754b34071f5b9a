-- form: script
-- expect: none
CREATE OR REPLACE TABLE ml.train_rows AS
SELECT ride_id, distance_km, fare, pickup_zone
FROM raw.rides
WHERE MOD(ABS(FARM_FINGERPRINT(ride_id)), 10) < 8;
