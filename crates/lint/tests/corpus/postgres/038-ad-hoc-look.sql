-- form: script
-- expect: none
-- because: nothing is written
SELECT o.state, count(*) AS orders, round(avg(o.cents) / 100.0, 2) AS mean_amount
FROM shop.orders AS o
WHERE o.placed_on > current_date - 7
GROUP BY o.state
ORDER BY orders DESC
LIMIT 20;
