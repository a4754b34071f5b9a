-- form: dbt
-- expect: OM502 error `incremental_strategy='insert_overwrite'`
-- expect: OM503 warning `on_schema_change='ignore'`
-- because: insert_overwrite without partition_by replaces the whole table by the one day selected star select with ignored schema changes: a new column of the source never reaches the target
{{
    config(
        materialized='incremental',
        incremental_strategy='insert_overwrite',
        file_format='parquet',
        on_schema_change='ignore'
    )
}}

-- one row per impression, enriched with the slot
with imp as (
    select *
    from {{ ref('stg_feed__impressions') }}
    where event_day = '{{ var("event_day") }}'
),

slot as (
    select slot_id, max(slot_name) as slot_name
    from {{ ref('dim_slot') }}
    group by slot_id
)

select imp.*, slot.slot_name
from imp
left join slot on slot.slot_id = imp.slot_id
