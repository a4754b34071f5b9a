-- form: script
-- expect: OM301 error `INSERT INTO bike.trip_day`
INSERT INTO bike.trip_day (day, station, departures)
SELECT started_on, from_station, count(*)
FROM bike.trip
WHERE started_on = $day
GROUP BY started_on, from_station;
