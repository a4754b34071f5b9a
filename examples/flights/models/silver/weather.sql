/* oncemore
kind: slice
description: >
  One reading an airport and hour. The key holds the instant: by local hour, the hour that the clock change of
  3 November repeats would be there twice.
interval: day
time: time_hour
key: [origin, time_hour]
tags: [daily]
audits:
  - not_null: [origin, local_hour]
  - accepted_values: {column: origin, values: [EWR, JFK, LGA]}
  - range: {column: local_hour, min: 0, max: 23}
  - range: {column: humidity_percent, min: 0, max: 100}
  - range: {column: visibility_miles, min: 0, max: 10}
*/
SELECT w.origin,
       w.time_hour,
       w.hour AS local_hour,
       w.temp AS temperature_f,
       w.humid AS humidity_percent,
       w.wind_dir AS wind_from_degrees,
       w.wind_speed AS wind_mph,
       w.wind_gust AS gust_mph,
       w.precip AS rain_inches,
       w.pressure AS pressure_mbar,
       w.visib AS visibility_miles
  FROM raw.weather AS w
 WHERE w.time_hour >= :interval_start
   AND w.time_hour < :interval_end
