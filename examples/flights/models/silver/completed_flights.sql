/* oncemore
kind: view
description: Flights that arrived where they were bound for. Expanded into the models that read it; not stored.
*/
SELECT flight_date, carrier, flight, origin, dest, tailnum, time_hour, scheduled_at, dep_delay, arr_delay, air_time, distance
  FROM silver.flights
 WHERE status = 'completed'
