-- form: script
-- expect: OM402 error `measured_at BETWEEN TIMESTAMP '{{ data_interval_start.strftime("%Y-%m-%d %H:%M:% …`
-- because: the closed upper end pulls in the 00:00:00 measurement of the next day; re-running an old day overwrites the next day's first hour with that single sample
MERGE INTO iceberg.env.air_quality_hour AS t
USING (
    SELECT
        station_id,
        pollutant,
        date_trunc('hour', measured_at)             AS hour_ts,
        CAST(avg(CAST(value AS decimal(18,6))) AS decimal(12,4)) AS mean_value,
        max(value)                                  AS max_value,
        count(*)                                    AS samples
    FROM iceberg.env.measurement                    -- measured_at: timestamp(6), UTC
    WHERE measured_at BETWEEN TIMESTAMP '{{ data_interval_start.strftime("%Y-%m-%d %H:%M:%S") }}'
                          AND TIMESTAMP '{{ data_interval_end.strftime("%Y-%m-%d %H:%M:%S") }}'
      AND station_id IS NOT NULL
      AND pollutant IS NOT NULL
    GROUP BY station_id, pollutant, date_trunc('hour', measured_at)
) AS s
ON (t.station_id = s.station_id AND t.pollutant = s.pollutant AND t.hour_ts = s.hour_ts)
WHEN MATCHED THEN UPDATE SET
    mean_value = s.mean_value,
    max_value  = s.max_value,
    samples    = s.samples
WHEN NOT MATCHED THEN INSERT (station_id, pollutant, hour_ts, mean_value, max_value, samples)
VALUES (s.station_id, s.pollutant, s.hour_ts, s.mean_value, s.max_value, s.samples);
