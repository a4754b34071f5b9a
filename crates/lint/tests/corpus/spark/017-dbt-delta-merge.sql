-- form: dbt
-- expect: OM101 error `current_timestamp()`
{{ config(materialized='incremental', file_format='delta', incremental_strategy='merge', unique_key='trip_id') }}

select trip_id, vehicle_id, started_at, ended_at, km
from {{ source('fleet', 'trips') }}
{% if is_incremental() %}
where ended_at >= current_timestamp() - interval 2 days
{% endif %}
