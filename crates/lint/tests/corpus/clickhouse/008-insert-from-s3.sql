-- form: script
-- expect: OM301 error `INSERT INTO taxi.trips`
-- expect: OM110 warning `s3('https://bucket.example.com/taxi/*.parquet', 'Parquet')`
INSERT INTO taxi.trips (trip_id, pickup_at, dropoff_at, fare)
SELECT trip_id, pickup_at, dropoff_at, fare
FROM s3('https://bucket.example.com/taxi/*.parquet', 'Parquet');
