-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='played_at',
    batch_size='day',
    begin='2023-01-01'
) }}

select play_id, played_at, track_id, listener_id, seconds
from {{ ref('stg_plays') }}
where seconds > 30
