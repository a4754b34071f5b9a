-- form: script
-- expect: OM301 error `INSERT INTO mart.city_day`
INSERT INTO mart.city_day BY NAME
SELECT
    pickup_at::DATE AS day,
    city,
    count(*) AS trips,
    sum(total_amount) AS revenue
FROM trips
WHERE pickup_at >= $day AND pickup_at < $day + INTERVAL 1 DAY
GROUP BY ALL;
