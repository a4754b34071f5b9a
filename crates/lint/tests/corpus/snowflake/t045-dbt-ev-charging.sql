-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    unique_key=['session_day', 'charger_id', 'session_no'],
    incremental_strategy='merge',
    on_schema_change='append_new_columns'
) }}

with raw as (

    select session_day, charger_id, session_no, plug_in_at, plug_out_at, energy_wh, file_seq
    from {{ source('ocpp', 'session_report') }}
    where session_day is not null
      and charger_id is not null
      and session_no is not null
    {% if is_incremental() %}
      and session_day >= '{{ var("interval_start") }}'
      and session_day <  '{{ var("interval_end") }}'
    {% endif %}

),

-- a charger repeats its report until it is acked; file_seq is unique in the landing table
latest as (

    select session_day, charger_id, session_no, plug_in_at, plug_out_at, energy_wh
    from raw
    qualify row_number() over (
        partition by session_day, charger_id, session_no
        order by file_seq desc
    ) = 1

)

select
    session_day,
    charger_id,
    session_no,
    plug_in_at,
    plug_out_at,
    energy_wh,
    datediff('second', plug_in_at, plug_out_at) as plugged_s
from latest
