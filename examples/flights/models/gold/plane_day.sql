/* oncemore
kind: slice
description: What each plane flew on each day. A plane that the register does not know has no model and no seats.
interval: day
time: flight_date
key: [flight_date, tailnum]
tags: [daily]
inputs:
  gold.planes: {on_change: report}      # a corrected register is shown as a reason; it rewrites no year by itself
audits:
  - not_null: [tailnum]
  - range: {column: legs, min: 1, max: 20}
*/
SELECT f.flight_date,
       f.tailnum,
       p.manufacturer,
       p.model,
       count(*) AS legs,
       count(DISTINCT f.dest) AS destinations,
       sum(f.air_time) AS air_minutes,
       sum(f.distance) AS miles,
       sum(f.distance) * p.seats AS seat_miles
  FROM silver.completed_flights AS f
  LEFT JOIN gold.planes AS p ON p.tailnum = f.tailnum
 WHERE f.flight_date >= :interval_start
   AND f.flight_date < :interval_end
 GROUP BY f.flight_date, f.tailnum, p.manufacturer, p.model, p.seats
