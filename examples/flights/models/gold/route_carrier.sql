/* oncemore
kind: history
description: The airline that flew a route most, and from which month to which. A route that is not flown in a month keeps its airline.
interval: month
time: month
key: [origin, dest]
track: [carrier]
tags: [monthly]
audits:
  - not_null: [origin, dest, carrier]
*/
WITH flown AS (
  SELECT CAST(date_trunc('month', f.flight_date) AS DATE) AS month, f.origin, f.dest, f.carrier, count(*) AS flights
    FROM silver.completed_flights AS f
   WHERE f.flight_date >= :interval_start
     AND f.flight_date < :interval_end
   GROUP BY CAST(date_trunc('month', f.flight_date) AS DATE), f.origin, f.dest, f.carrier
),
ranked AS (
  SELECT month, origin, dest, carrier, row_number() OVER (PARTITION BY origin, dest ORDER BY flights DESC, carrier) AS place
    FROM flown
)
SELECT month, origin, dest, carrier
  FROM ranked
 WHERE place = 1
