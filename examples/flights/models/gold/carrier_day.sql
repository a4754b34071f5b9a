/* oncemore
kind: slice
description: How each airline did on each day.
interval: day
time: flight_date
key: [flight_date, carrier]
tags: [daily]
audits:
  - relationship: {columns: [carrier], to: gold.airlines, to_columns: [carrier]}
  - expression: flights = completed + diverted + cancelled
*/
SELECT flight_date,
       carrier,
       count(*) AS flights,
       count(*) FILTER (WHERE status = 'completed') AS completed,
       count(*) FILTER (WHERE status = 'diverted') AS diverted,
       count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
       -- late is what the authority counts as late: fifteen minutes or more
       count(CASE WHEN arr_delay >= 15 THEN 1 END) AS late,
       sum(arr_delay) AS arr_delay_minutes,
       avg(arr_delay) AS arr_delay_mean,
       sum(distance) FILTER (WHERE status = 'completed') AS miles
  FROM silver.flights
 WHERE flight_date >= :interval_start
   AND flight_date < :interval_end
 GROUP BY flight_date, carrier
