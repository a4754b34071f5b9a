-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by=['event_date'],
    file_format='parquet'
) }}

select
    device_id,
    avg(temperature) as avg_temperature,
    count(*) as readings,
    event_date
from {{ source('iot', 'readings') }}
where event_date = '{{ var("event_date") }}'
group by device_id, event_date
