-- form: script
-- expect: OM301 error `INSERT INTO weather.hourly`
INSERT INTO weather.hourly BY NAME
SELECT station, hour_utc, avg(temp) AS temp, max(gust) AS gust
FROM raw.obs
WHERE obs_day = getvariable('day')
GROUP BY ALL;
