-- form: model
-- expect: none
/* oncemore
kind: full
key: [city, day]
*/
WITH hourly AS (
  SELECT city, date_trunc('day', at) AS day, count(*) AS rides
  FROM raw.ride
  GROUP BY ALL
)
SELECT city, day, sum(rides) AS rides, rank() OVER (PARTITION BY city ORDER BY sum(rides) DESC) AS place
FROM hourly
GROUP BY city, day
