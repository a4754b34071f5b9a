-- form: dbt
-- expect: none
{% set days = var('days', []) %}
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'day', 'data_type': 'date'},
    partitions=days
) }}

select day, store_id, sum(amount) as amount
from {{ ref('stg_sales') }}
{% if is_incremental() %}
where day in ({{ days | join(', ') }})
{% endif %}
group by 1, 2
