-- form: script
-- expect: none
-- skewed join of orders with merchants (one merchant has 40% of the rows), salted by hash of the order
SET spark.sql.sources.partitionOverwriteMode = dynamic;
SET spark.sql.adaptive.enabled = true;

WITH o AS (
  SELECT order_id, merchant_id, order_date, amount,
         pmod(hash(order_id), 16) AS salt
  FROM   shop.orders
  WHERE  order_date = '${run_day}'
),
m AS (
  SELECT merchant_id, segment, s.salt
  FROM   shop.merchants
  LATERAL VIEW explode(sequence(0, 15)) s AS salt
)
INSERT OVERWRITE TABLE mart.orders_by_segment PARTITION (order_date)
SELECT /*+ SHUFFLE_HASH(m) */
       m.segment,
       COUNT(*)      AS n_orders,
       SUM(o.amount) AS amount,
       o.order_date
FROM   o
JOIN   m ON m.merchant_id = o.merchant_id AND m.salt = o.salt
GROUP  BY o.order_date, m.segment;
