-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'visit_date', 'data_type': 'date'},
    partitions=var('partitions_to_replace', [])
) }}

select
    visit_date,
    site_id,
    count(*) as visits,
    count(distinct visitor_id) as visitors
from {{ ref('stg_visits') }}
{% if is_incremental() %}
where visit_date in ({{ var('partitions_to_replace') | join(',') }})
{% endif %}
group by visit_date, site_id
