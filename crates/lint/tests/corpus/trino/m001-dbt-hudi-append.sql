-- form: dbt
-- expect: OM501 error `incremental_strategy='append'`
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    properties={"format": "'PARQUET'", "partitioning": "ARRAY['day']"}
) }}

select
    order_id,
    amount,
    date(from_iso8601_timestamp(created)) as day
from {{ source('lake', 'orders') }}
where created >= '{{ var("from") }}' and created < '{{ var("to") }}'
