-- form: script
-- expect: none
INSERT INTO prod.sensor_cal (sensor_id, gain, bias, calibrated_on)
SELECT * FROM unnest(%(ids)s::int[], %(gains)s::float8[], %(biases)s::float8[], %(days)s::date[])
ON CONFLICT (sensor_id) DO UPDATE
SET (gain, bias, calibrated_on) = (EXCLUDED.gain, EXCLUDED.bias, EXCLUDED.calibrated_on);
