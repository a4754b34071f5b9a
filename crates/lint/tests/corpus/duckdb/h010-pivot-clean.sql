-- form: script
-- expect: none
CREATE OR REPLACE TABLE monthly_totals AS
WITH m AS (
    SELECT strftime(order_date, '%Y-%m') AS month, channel, sum(total) AS total
    FROM orders
    GROUP BY ALL
)
SELECT month,
       sum(total) FILTER (WHERE channel = 'web')   AS web,
       sum(total) FILTER (WHERE channel = 'store') AS store,
       list_sort(list(DISTINCT channel))           AS channels
FROM m
GROUP BY month;
