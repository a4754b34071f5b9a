-- form: dbt
-- expect: OM305 error `select max(event_ts) from {{ this }}`
-- because: events that arrive late fall behind the stored maximum and are never read; March cannot be rebuilt on its own
{{ config(
    materialized='incremental',
    partition_by={'field': 'event_ts', 'data_type': 'timestamp', 'granularity': 'day'},
    tags=['checkout', 'hourly']
) }}

with src as (

    select
        json_value(payload, '$.id')                        as event_id,
        json_value(payload, '$.cart')                      as cart_id,
        json_value(payload, '$.step')                      as step,
        safe_cast(json_value(payload, '$.amt') as numeric) as amount,
        event_ts
    from {{ source('pubsub', 'checkout_raw') }}

)

select event_id, cart_id, step, amount, event_ts
from src
{% if is_incremental() %}
where event_ts > (select max(event_ts) from {{ this }})
{% endif %}
