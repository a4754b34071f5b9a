-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'slot_date', 'data_type': 'date'},
    partitions=["date('" ~ var('run_date') ~ "')"],
    on_schema_change='fail'
) }}

{# was: where slot_date >= current_date() - 3  -- removed in DATA-881 #}
with slots as (
    select
        slot_id,
        slot_date,
        clinic_id,
        status,
        booked_by
    from {{ ref('stg_clinic_slots') }}
    {% if is_incremental() %}
    where slot_date = date('{{ var("run_date") }}')
    {% endif %}
)

select
    slot_date,
    clinic_id,
    count(*)                                            as slots,
    countif(status = 'BOOKED')                          as booked,
    countif(status = 'DNA')                             as no_show,
    string_agg(distinct booked_by, '|' order by booked_by) as channels,
    'current_timestamp is added by the exporter'        as note
from slots
group by slot_date, clinic_id
