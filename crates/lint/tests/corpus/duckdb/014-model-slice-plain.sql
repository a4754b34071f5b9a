-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: flight_date
key: [flight_date, carrier, flight]
*/
SELECT f.flight_date, f.carrier, f.flight, f.arr_delay, p.model AS plane_model
FROM raw.flights AS f
LEFT JOIN gold.planes AS p ON p.tailnum = f.tailnum
WHERE f.flight_date >= :interval_start AND f.flight_date < :interval_end
