-- form: script
-- expect: none
-- because: Same day deleted and inserted in one transaction; the external path holds the interval; sums are decimal; the clock is a column default.
-- daily.sql; the runner substitutes ${ds} (one UTC day) before it calls duckdb
CREATE TABLE IF NOT EXISTS station_day (
  station_id INTEGER NOT NULL,
  obs_day    DATE    NOT NULL,
  n_obs      BIGINT,
  t_min      DECIMAL(5,2),
  t_max      DECIMAL(5,2),
  rain_mm    DECIMAL(9,2),
  loaded_at  TIMESTAMPTZ DEFAULT current_timestamp,
  PRIMARY KEY (station_id, obs_day)
);

BEGIN TRANSACTION;

DELETE FROM station_day WHERE obs_day = DATE '${ds}';

INSERT INTO station_day (station_id, obs_day, n_obs, t_min, t_max, rain_mm)
SELECT station_id,
       obs_day,
       count(*),
       min(temp_c),
       max(temp_c),
       sum(rain_mm::DECIMAL(9,2))
FROM read_parquet('raw/obs/day=${ds}/*.parquet')
WHERE obs_day = DATE '${ds}'
  AND quality_flag IN ('A', 'B')
GROUP BY station_id, obs_day;

COMMIT;
