-- form: script
-- expect: OM406 warning `PARTITION (load_date = '${run_date}')`
INSERT OVERWRITE TABLE mart.orders PARTITION (load_date = '${run_date}')
SELECT order_id, order_ts, amount
FROM silver.orders
WHERE order_ts >= '${from_ts}' AND order_ts < '${to_ts}';
