-- form: dbt
-- expect: OM502 error `incremental_strategy='insert_overwrite'`
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    file_format='parquet'
) }}
select order_id, order_day, net_amount
from {{ ref('int_orders') }}
{% if is_incremental() %}
where order_day = '{{ var("order_day") }}'
{% endif %}
