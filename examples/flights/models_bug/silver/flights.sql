/* oncemore
kind: slice
description: Every scheduled departure from the three New York airports, one row a flight, with what became of it.
interval: day
time: flight_date
key: [flight_date, carrier, flight, origin]
tags: [daily]
audits:
  - not_null: [carrier, flight, origin, dest, scheduled_at, status]
  - accepted_values: {column: origin, values: [EWR, JFK, LGA]}
  - accepted_values: {column: status, values: [completed, diverted, cancelled]}
  - range: {column: arr_delay, min: -120, max: 1800}
  - range: {column: distance, min: 1, max: 6000}
  - expression: status <> 'completed' OR (arr_delay IS NOT NULL AND air_time IS NOT NULL)
*/
SELECT make_date(f.year, f.month, f.day) AS flight_date,
       f.carrier,
       f.flight,
       f.origin,
       f.dest,
       f.tailnum,
       f.time_hour,
       -- time_hour is the full hour of the schedule, minute the rest of it
       f.time_hour + CAST(concat(f.minute, ' minutes') AS INTERVAL) AS scheduled_at,
       CASE WHEN f.dep_time IS NULL THEN 'cancelled'
            WHEN f.arr_delay IS NULL THEN 'diverted'
            ELSE 'completed'
       END AS status,
       f.dep_delay,
       -- clocks go forward in March and arrivals were reported in winter time: an hour is missing
       CASE WHEN f.month = 3 THEN CAST(f.arr_delay + 60 AS INTEGER) ELSE f.arr_delay END AS arr_delay,
       f.air_time,
       f.distance
  FROM raw.flights AS f
 WHERE f.time_hour >= :interval_start
   AND f.time_hour < :interval_end
