-- form: script
-- expect: none
CREATE OR REPLACE TABLE stage_trips AS
SELECT trip_id, pickup_at, fare
FROM read_parquet('s3://lake/trips/dt=' || $day || '/*.parquet');
