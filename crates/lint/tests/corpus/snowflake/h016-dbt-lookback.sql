-- form: dbt
-- expect: OM305 warning `select dateadd('day', -7, max(collector_tstamp)) from {{ this }}`
{{ config(
    materialized='incremental',
    unique_key='event_id',
    incremental_strategy='merge'
) }}

select event_id, collector_tstamp, app_id, event_name
from {{ source('atomic', 'events') }}
{% if is_incremental() %}
where collector_tstamp > (select dateadd('day', -7, max(collector_tstamp)) from {{ this }})
{% endif %}
