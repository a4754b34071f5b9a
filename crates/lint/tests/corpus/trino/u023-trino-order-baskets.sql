-- form: script
-- expect: OM310 error `DELETE FROM iceberg.mart.order_basket`
-- expect: OM205 error `array_agg(i.sku)`
-- because: two separate Iceberg commits, a failure between them leaves the day empty. order of the joined skus differs from run to run.
-- dag: baskets_daily / task: build_baskets  (TrinoOperator, split_statements=True)

DELETE FROM iceberg.mart.order_basket
WHERE order_date = DATE '{{ ds }}';

INSERT INTO iceberg.mart.order_basket (order_date, order_id, customer_id, n_items, skus, total)
SELECT
    o.order_date,
    o.order_id,
    o.customer_id,
    count(*)                              AS n_items,
    array_join(array_agg(i.sku), '|')     AS skus,
    sum(i.qty * i.unit_price)             AS total
FROM iceberg.core.orders o
JOIN iceberg.core.order_items i
  ON i.order_id = o.order_id
 AND i.order_date = o.order_date
WHERE o.order_date = DATE '{{ ds }}'
GROUP BY o.order_date, o.order_id, o.customer_id;
