-- form: script
-- expect: none
INSERT INTO gold.ride_day
REPLACE WHERE ride_date = '{{ ds }}'
SELECT ride_date, zone_id, count(*) AS rides, sum(fare) AS fares
FROM silver.ride
WHERE ride_date = '{{ ds }}'
GROUP BY ride_date, zone_id;
