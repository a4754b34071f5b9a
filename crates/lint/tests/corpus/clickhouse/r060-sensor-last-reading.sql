-- form: script
-- expect: OM203 warning `LIMIT 1 BY sensor_id`
-- because: sensors send several readings within the same second; which of them is kept depends on the order of the parts
CREATE OR REPLACE TABLE plant.sensor_last
ENGINE = MergeTree
ORDER BY sensor_id
AS
SELECT
    sensor_id,
    line,
    value,
    status,
    measured_at
FROM plant.sensor_reading
WHERE status != 'maintenance'
  AND measured_at < {as_of:DateTime('UTC')}
ORDER BY sensor_id, measured_at DESC
LIMIT 1 BY sensor_id;
