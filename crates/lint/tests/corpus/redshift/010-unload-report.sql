-- form: script
-- expect: none
UNLOAD ('SELECT store_id, sale_day, net_amount FROM mart.store_day WHERE sale_day = ''{{ ds }}''')
TO 's3://acme-export/store_day/{{ ds }}/'
IAM_ROLE '{{ params.iam_role }}'
FORMAT AS PARQUET
ALLOWOVERWRITE;
