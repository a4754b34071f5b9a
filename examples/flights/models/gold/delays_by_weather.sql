/* oncemore
kind: slice
description: Delays and cancellations an airport and day, by what the weather was like at the hour of departure.
interval: day
time: flight_date
key: [flight_date, origin, weather]
tags: [daily]
audits:
  - accepted_values: {column: weather, values: [no report, poor visibility, rain, wind, fair]}
  - expression: cancelled <= flights
*/
WITH w AS (
    SELECT origin,
           time_hour,
           CASE WHEN visibility_miles < 3 THEN 'poor visibility'
                WHEN rain_inches > 0 THEN 'rain'
                WHEN wind_mph >= 20 THEN 'wind'
                ELSE 'fair'
           END AS weather
      FROM silver.weather
     WHERE time_hour >= :interval_start
       AND time_hour < :interval_end
)
SELECT f.flight_date,
       f.origin,
       coalesce(w.weather, 'no report') AS weather,
       count(*) AS flights,
       count(*) FILTER (WHERE f.status = 'cancelled') AS cancelled,
       avg(f.dep_delay) AS dep_delay_mean,
       avg(f.arr_delay) AS arr_delay_mean
  FROM silver.flights AS f
  LEFT JOIN w ON w.origin = f.origin AND w.time_hour = f.time_hour
 WHERE f.flight_date >= :interval_start
   AND f.flight_date < :interval_end
 GROUP BY f.flight_date, f.origin, coalesce(w.weather, 'no report')
