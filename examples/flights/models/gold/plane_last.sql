/* oncemore
kind: merge
description: Where each plane was last seen, which is the last flight that it took off for. A late or corrected day moves it, back too.
interval: day
time: flight_date
key: [tailnum]
order_by: [scheduled_at, origin, flight]
tags: [daily]
audits:
  - not_null: [tailnum, carrier, origin, dest]
*/
SELECT f.tailnum,
       f.flight_date,
       f.scheduled_at,
       f.carrier,
       f.flight,
       f.origin,
       f.dest,
       f.status
  FROM silver.flights AS f
 WHERE f.flight_date >= :interval_start
   AND f.flight_date < :interval_end
   AND f.status <> 'cancelled'
   AND f.tailnum IS NOT NULL
