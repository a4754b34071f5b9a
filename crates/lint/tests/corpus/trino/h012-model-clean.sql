-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: flight_date
key: [flight_date, flight_no]
*/
WITH legs AS (
  SELECT flight_date, flight_no, dep_delay, arr_delay
  FROM raw.leg
  WHERE flight_date >= :interval_start AND flight_date < :interval_end
)
SELECT flight_date, flight_no, max(dep_delay) AS dep_delay, max(arr_delay) AS arr_delay,
       'current_date' AS source_note
FROM legs
GROUP BY flight_date, flight_no
