-- form: script
-- expect: OM301 error `INSERT INTO trips`
-- expect: OM315 warning `SELECT *`
-- expect: OM110 warning `read_parquet('s3://lake/trips/*.parquet')`
CREATE TABLE IF NOT EXISTS trips (trip_id BIGINT, started TIMESTAMP, km DOUBLE);
INSERT INTO trips
SELECT * FROM read_parquet('s3://lake/trips/*.parquet');
