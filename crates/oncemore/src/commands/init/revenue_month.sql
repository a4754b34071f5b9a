/* oncemore
kind: slice
interval: month                  # runs once all days of the month are there
time: month
key: [month, customer]
*/
SELECT CAST(date_trunc('month', o.ordered_at) AS DATE) AS month,
       o.customer,
       count(*) AS orders,
       sum(o.amount) AS revenue
  FROM silver.orders AS o
 WHERE o.ordered_at >= :interval_start
   AND o.ordered_at < :interval_end
 GROUP BY 1, 2
