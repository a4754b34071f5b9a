-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by=['ds'],
    file_format='parquet'
) }}

select order_id, customer_id, amount, ds
from {{ ref('stg_orders') }}
{% if is_incremental() %}
where ds = '{{ var("ds") }}'
{% endif %}
