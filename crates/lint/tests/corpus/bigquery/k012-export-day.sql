-- form: script
-- expect: none
EXPORT DATA OPTIONS (
  uri = 'gs://acme-out/orders/{{ ds_nodash }}/*.csv',
  format = 'CSV',
  overwrite = true,
  header = true
) AS
SELECT order_id, customer_no, total
FROM mart.orders
WHERE order_day = '{{ ds }}'
ORDER BY order_id;
