-- form: script
-- expect: OM110 warning `read_parquet('s3://acme-lake/taxi/year=*/month=*/*.parquet', hive_partitioning = true)`
INSTALL httpfs;
LOAD httpfs;

CREATE OR REPLACE TABLE trips AS
SELECT vendor_id, pickup_at, dropoff_at, passenger_count, total_amount
FROM read_parquet('s3://acme-lake/taxi/year=*/month=*/*.parquet', hive_partitioning = true)
WHERE total_amount > 0;
