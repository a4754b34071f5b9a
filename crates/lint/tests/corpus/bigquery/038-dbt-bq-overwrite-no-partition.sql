-- form: dbt
-- expect: OM502 error `incremental_strategy = 'insert_overwrite'`
{{ config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    cluster_by = ['store_id']
) }}

select store_id, sale_day, sum(amount) as amount
from {{ ref('stg_sales') }}
{% if is_incremental() %}
where sale_day = '{{ var("day") }}'
{% endif %}
group by store_id, sale_day
