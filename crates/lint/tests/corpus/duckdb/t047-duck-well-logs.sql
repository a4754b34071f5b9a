-- form: script
-- expect: none
-- well log curves, one parquet per well and day (path is immutable once written)
CREATE TABLE IF NOT EXISTS curve_day (
    well_id   INTEGER NOT NULL,
    log_day   DATE    NOT NULL,
    curve     VARCHAR NOT NULL,
    samples   BIGINT,
    min_depth DECIMAL(9,3),
    max_depth DECIMAL(9,3),
    tools     VARCHAR[],
    PRIMARY KEY (well_id, log_day, curve)
);

INSERT OR REPLACE INTO curve_day (well_id, log_day, curve, samples, min_depth, max_depth, tools)
SELECT well_id,
       DATE '${log_day}',
       curve,
       count(*),
       min(depth_m),
       max(depth_m),
       list(DISTINCT tool ORDER BY tool)
FROM read_parquet('/data/wells/log_day=${log_day}/part-0.parquet')
WHERE depth_m IS NOT NULL
GROUP BY well_id, curve;
