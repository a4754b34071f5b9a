-- form: script
-- expect: none
UNLOAD ('SELECT order_id, store_id, amount FROM sales.orders WHERE order_date = ''{{ ds }}''')
TO 's3://acme-out/orders/dt={{ ds }}/part_'
IAM_ROLE '{{ params.role }}'
FORMAT AS PARQUET
ALLOWOVERWRITE;
