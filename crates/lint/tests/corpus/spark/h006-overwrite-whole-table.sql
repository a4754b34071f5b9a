-- form: script
-- expect: OM409 error `INSERT OVERWRITE TABLE gold.trip_summary`
INSERT OVERWRITE TABLE gold.trip_summary
SELECT trip_date, pickup_zone, COUNT(*) AS trips
FROM silver.trip
WHERE trip_date = '${trip_date}'
GROUP BY trip_date, pickup_zone;
