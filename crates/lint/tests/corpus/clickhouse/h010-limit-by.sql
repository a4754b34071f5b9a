-- form: script
-- expect: OM203 warning `LIMIT 1 BY imei`
CREATE OR REPLACE TABLE fleet.last_position
ENGINE = MergeTree ORDER BY imei AS
SELECT imei, lat, lon, fix_time
FROM fleet.position
ORDER BY imei, fix_time DESC
LIMIT 1 BY imei;
