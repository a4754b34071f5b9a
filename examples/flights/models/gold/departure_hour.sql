/* oncemore
kind: slice
description: Departures an airport and hour, for staffing and for the slot plan.
interval: day
time: time_hour
key: [origin, time_hour]
tags: [daily]
audits:
  - expression: departed + cancelled = scheduled
*/
SELECT origin,
       time_hour,
       count(*) AS scheduled,
       count(*) FILTER (WHERE status <> 'cancelled') AS departed,
       count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
       avg(dep_delay) AS dep_delay_mean,
       max(dep_delay) AS dep_delay_max
  FROM silver.flights
 WHERE time_hour >= :interval_start
   AND time_hour < :interval_end
   -- the same day once more, as the date by which the table is sliced: one slice is read for one day
   AND flight_date >= :interval_start
   AND flight_date < :interval_end
 GROUP BY origin, time_hour
