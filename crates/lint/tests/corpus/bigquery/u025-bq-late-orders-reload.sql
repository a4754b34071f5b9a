-- form: script
-- expect: OM310 error `DELETE FROM `retail-dwh.core.orders``
-- expect: OM403 error `load_date = @run_date`
-- because: script without BEGIN TRANSACTION, the day is missing if the insert fails. deletes by order date but inserts by load date, late orders pile up with every re-run.
-- Reload the orders of one day. Called with @run_date from Cloud Composer.
-- Orders can arrive up to 10 days late from the partner API, hence load_date below

DELETE FROM `retail-dwh.core.orders`
WHERE order_date = @run_date;

INSERT INTO `retail-dwh.core.orders`
  (order_id, customer_id, order_date, channel, gross_amount, currency)
SELECT
  CAST(JSON_VALUE(payload, '$.id') AS INT64),
  JSON_VALUE(payload, '$.customer.id'),
  DATE(TIMESTAMP(JSON_VALUE(payload, '$.created'))),
  LOWER(JSON_VALUE(payload, '$.channel')),
  CAST(JSON_VALUE(payload, '$.total') AS NUMERIC),
  JSON_VALUE(payload, '$.currency')
FROM `retail-dwh.raw.orders_api`
WHERE load_date = @run_date
  AND JSON_VALUE(payload, '$.id') IS NOT NULL;
