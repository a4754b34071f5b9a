-- form: dbt
-- expect: OM305 error `select max(event_date) from {{ this }}`
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'event_date', 'data_type': 'date'}
) }}

select
    event_date,
    platform,
    count(distinct user_pseudo_id) as users
from {{ ref('base_ga4__events') }}
{% if is_incremental() %}
where event_date >= (select max(event_date) from {{ this }})
{% endif %}
group by 1, 2
