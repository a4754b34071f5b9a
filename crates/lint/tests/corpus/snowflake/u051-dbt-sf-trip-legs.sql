-- form: dbt
-- expect: none
{{
    config(
        materialized         = 'incremental',
        incremental_strategy = 'merge',
        unique_key           = 'leg_id',
        on_schema_change     = 'fail'
    )
}}
-- started by dagster with --vars '{start: ..., end: ...}', never with current_date

with legs as (
    select leg_id, change_no, trip_id, vehicle_id, leg_date, km, changed_at
    from {{ ref('stg_tms__trip_legs') }}
    where leg_id is not null
    qualify row_number() over (
        partition by leg_id
        order by changed_at desc, change_no desc
    ) = 1
)

select
    leg_id
  , trip_id
  , vehicle_id
  , leg_date
  , km
  , changed_at
from legs
{% if is_incremental() %}
where leg_date >= '{{ var("start") }}'::date
  and leg_date <  '{{ var("end") }}'::date
{% endif %}
