-- form: dbt
-- expect: none
{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key=['sale_day', 'region']) }}

select sale_day, region, order_id, amount
from {{ ref('stg_sales') }}
{% if is_incremental() %}
where sale_day >= '{{ var("from") }}' and sale_day < '{{ var("until") }}'
{% endif %}
