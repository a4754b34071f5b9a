-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='occurred_at',
    batch_size='day',
    begin='2023-01-01',
    partition_by={'field': 'occurred_at', 'data_type': 'timestamp', 'granularity': 'day'}
) }}

select
    event_id,
    occurred_at,
    user_id,
    json_value(properties, '$.plan') as plan
from {{ ref('stg_events') }}
