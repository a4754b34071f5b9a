-- form: script
-- expect: OM302 error `ON CONFLICT (station_id, observed_at) DO NOTHING`
INSERT INTO weather.observation (station_id, observed_at, temp_c, wind_ms, source_file)
SELECT station_id,
       to_timestamp(epoch_s) AT TIME ZONE 'UTC',
       (temp_f - 32) * 5 / 9,
       wind_kn * 0.514444,
       file_name
FROM staging.observation_lines
WHERE file_name = %(file_name)s
ON CONFLICT (station_id, observed_at) DO NOTHING;
