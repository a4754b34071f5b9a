-- form: dbt
-- expect: OM506 error `incremental_predicates=…`
{{ config(
    materialized='incremental',
    unique_key='event_id',
    incremental_predicates=["DBT_INTERNAL_DEST.event_day >= dateadd(day, -3, '" ~ var('day') ~ "')"]
) }}

select event_id, event_day, kind
from {{ ref('stg_events') }}
{% if is_incremental() %}
where event_day >= dateadd(day, -10, '{{ var("day") }}') and event_day <= '{{ var("day") }}'
{% endif %}
