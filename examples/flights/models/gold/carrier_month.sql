/* oncemore
kind: slice
description: Punctuality of each airline in each month.
interval: month
time: month
key: [month, carrier]
tags: [monthly]
audits:
  - not_null: [airline]
  - range: {column: on_time_share, min: 0, max: 1}
*/
SELECT CAST(date_trunc('month', d.flight_date) AS DATE) AS month,
       d.carrier,
       a.airline,
       sum(d.flights) AS flights,
       sum(d.completed) AS completed,
       sum(d.cancelled) AS cancelled,
       sum(d.late) AS late,
       sum(d.arr_delay_minutes) AS arr_delay_minutes,
       CAST(sum(d.completed) - sum(d.late) AS DOUBLE) / nullif(sum(d.completed), 0) AS on_time_share
  FROM gold.carrier_day AS d
  LEFT JOIN gold.airlines AS a ON a.carrier = d.carrier
 WHERE d.flight_date >= :interval_start
   AND d.flight_date < :interval_end
 GROUP BY CAST(date_trunc('month', d.flight_date) AS DATE), d.carrier, a.airline
