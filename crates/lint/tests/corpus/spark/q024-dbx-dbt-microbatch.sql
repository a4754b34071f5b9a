-- form: dbt
-- expect: none
-- because: Microbatch replaces the batch of its event_time and adds the bounds itself, so the missing WHERE is right; the history join is half open and the invocation id is provenance only.
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'microbatch',
    event_time = 'occurred_at',
    batch_size = 'day',
    begin = '2023-01-01',
    lookback = 2,
    file_format = 'delta',
    unique_key = 'booking_event_id',
    partition_by = ['occurred_on']
  )
}}

{# No where clause: dbt cuts every batch of the input at event_time. #}
select
    e.booking_event_id,
    e.booking_id,
    e.occurred_at,
    e.occurred_on,
    e.event_name,
    e.payload:channel::string      as channel,
    h.hotel_key,
    '{{ invocation_id }}'          as dbt_invocation_id
from {{ ref('stg_booking__events') }} as e
left join {{ ref('dim_hotel') }} as h
  on h.hotel_id = e.hotel_id
 and e.occurred_at >= h.valid_from
 and e.occurred_at <  h.valid_to
