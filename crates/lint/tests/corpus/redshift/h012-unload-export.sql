-- form: script
-- expect: none
UNLOAD ('SELECT order_id, total FROM mart.orders WHERE order_date = ''{{ ds }}''')
TO 's3://exports/orders/{{ ds }}/part_'
IAM_ROLE '{{ params.role }}'
FORMAT PARQUET ALLOWOVERWRITE;
