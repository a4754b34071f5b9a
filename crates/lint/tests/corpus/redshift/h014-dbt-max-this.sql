-- form: dbt
-- expect: OM305 error `select max(event_ts) from {{ this }}`
{{
  config(
    materialized='incremental',
    unique_key='event_key',
    dist='event_key',
    sort='event_ts'
  )
}}

with base as (
    select
        md5(cast(anonymous_id as varchar) || cast(event_ts as varchar)) as event_key,
        anonymous_id,
        event_ts,
        event_name
    from {{ source('segment', 'tracks') }}
    {% if is_incremental() %}
    where event_ts > (select max(event_ts) from {{ this }})
    {% endif %}
)

select event_key, anonymous_id, event_ts, event_name from base
