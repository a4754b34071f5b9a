-- form: script
-- expect: OM204 error `first(cashier_no)`
-- expect: OM409 error `INSERT OVERWRITE TABLE retail.pos_order`
-- because: first() without order: any cashier of the order static overwrite without a partition clause wipes every day of the table and leaves only the day of this run
-- submit: spark-sql -f pos_orders.sql --hivevar ds=2026-03-01
SET spark.sql.sources.partitionOverwriteMode=static;
SET spark.sql.shuffle.partitions=64;

WITH lines AS (
  SELECT order_id,
         store_id,
         order_date,
         SUM(qty * unit_price_cents) AS gross_cents,
         COUNT(*)                    AS line_cnt,
         first(cashier_no)           AS cashier_no
  FROM   retail.pos_line
  WHERE  order_date = '${ds}'
  GROUP  BY order_id, store_id, order_date
)
INSERT OVERWRITE TABLE retail.pos_order
SELECT l.order_id,
       l.store_id,
       l.gross_cents,
       l.line_cnt,
       l.cashier_no,
       l.order_date
FROM   lines l
JOIN   retail.store s ON s.store_id = l.store_id
WHERE  s.format <> 'TEST';
