-- form: script
-- expect: OM305 error `SELECT COALESCE(MAX(dt), DATE '1970-01-01') FROM hive.fx_raw.rate_day`
INSERT INTO hive.fx_raw.rate_day (pair, rate, dt)
SELECT pair, rate, dt
FROM cassandra.fx.rate_day
WHERE dt > (
    SELECT COALESCE(MAX(dt), DATE '1970-01-01') FROM hive.fx_raw.rate_day
);
