-- form: dbt
-- expect: OM501 error `materialized='incremental'`
{{ config(materialized='incremental', dist='user_id', sort='event_at') }}

select event_id, user_id, event_at, event_name
from {{ source('app', 'events') }}
{% if is_incremental() %}
where event_at >= '{{ var("start") }}' and event_at < '{{ var("end") }}'
{% endif %}
