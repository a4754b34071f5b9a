-- form: dbt
-- expect: none
{{ config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    partition_by = {'field': 'session_date', 'data_type': 'date', 'copy_partitions': true},
    partitions = [ "date('" ~ var('day') ~ "')" ],
    require_partition_filter = true
) }}

with hits as (
    select session_date, session_id, visitor_id, hit_number, page_path
    from {{ ref('stg_ga__hits') }}
    where session_date = '{{ var("day") }}'
)

select
    session_date,
    session_id,
    visitor_id,
    max(if(hit_number = 1, page_path, null)) as landing_page,
    count(*) as hits
from hits
group by 1, 2, 3
