-- form: dbt
-- expect: OM503 warning `on_schema_change='ignore'`
{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='event_id',
    on_schema_change='ignore'
) }}
select * from {{ ref('stg_events') }}
{% if is_incremental() %}
where event_day >= date '{{ var("from") }}' and event_day < date '{{ var("to") }}'
{% endif %}
