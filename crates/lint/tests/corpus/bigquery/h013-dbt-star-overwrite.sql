-- form: dbt
-- expect: OM503 warning `select *`
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'event_date', 'data_type': 'date'}
) }}
select *
from {{ source('firebase', 'events') }}
{% if is_incremental() %}
where event_date = '{{ var("event_date") }}'
{% endif %}
