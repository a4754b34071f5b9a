/* oncemore
kind: slice
description: Each route in each month, with where it leads to.
interval: month
time: month
key: [month, origin, dest]
tags: [monthly]
audits:
  - not_null: [origin, dest]
  - range: {column: flights, min: 1}
  - expression: carriers >= 1
*/
SELECT CAST(date_trunc('month', f.flight_date) AS DATE) AS month,
       f.origin,
       f.dest,
       a.airport AS dest_airport,
       count(*) AS flights,
       count(DISTINCT f.carrier) AS carriers,
       count(*) FILTER (WHERE f.status = 'cancelled') AS cancelled,
       avg(f.arr_delay) AS arr_delay_mean,
       avg(f.air_time) AS air_time_mean,
       min(f.distance) AS distance
  FROM silver.flights AS f
  LEFT JOIN gold.airports AS a ON a.faa = f.dest
 WHERE f.flight_date >= :interval_start
   AND f.flight_date < :interval_end
 GROUP BY CAST(date_trunc('month', f.flight_date) AS DATE), f.origin, f.dest, a.airport
