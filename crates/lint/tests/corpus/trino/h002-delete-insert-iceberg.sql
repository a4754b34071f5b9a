-- form: script
-- expect: OM310 error `DELETE FROM iceberg.gold.rides`
DELETE FROM iceberg.gold.rides
WHERE ride_date = DATE '{{ ds }}';

INSERT INTO iceberg.gold.rides (ride_id, ride_date, city, fare)
SELECT ride_id, ride_date, city, fare
FROM iceberg.silver.rides
WHERE ride_date = DATE '{{ ds }}';
