-- form: dbt
-- expect: OM502 error `incremental_strategy = 'insert_overwrite'`
{{ config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite'
) }}
select day, channel, sum(cost) as cost
from {{ ref('stg_spend') }}
{% if is_incremental() %}
where day = '{{ var("day") }}'
{% endif %}
group by day, channel
