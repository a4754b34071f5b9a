-- form: script
-- expect: none
COPY (
    SELECT station_id, read_at, temperature
    FROM mart.weather
    WHERE read_at >= $from AND read_at < $to
    ORDER BY station_id, read_at
) TO 'out/weather.parquet' (FORMAT parquet, COMPRESSION zstd, OVERWRITE_OR_IGNORE true);
