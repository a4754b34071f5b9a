-- form: script
-- expect: OM105 error `uuid()`
CREATE OR REPLACE TABLE mart.household AS
SELECT uuid() AS household_key, address_norm, count(*) AS people
FROM stg.resident
GROUP BY address_norm;
