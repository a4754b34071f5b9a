-- form: script
-- expect: OM203 warning `LIMIT 1 BY device_id`
CREATE OR REPLACE TABLE iot.last_reading
ENGINE = MergeTree ORDER BY device_id
AS
SELECT device_id, read_at, value
FROM iot.reading
ORDER BY device_id, read_at DESC
LIMIT 1 BY device_id;
