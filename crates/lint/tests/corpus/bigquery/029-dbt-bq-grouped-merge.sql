-- form: dbt
-- expect: none
{{ config(materialized='incremental', unique_key=['stat_day', 'site_id'], partition_by={'field': 'stat_day', 'data_type': 'date'}) }}

select
    stat_day,
    site_id,
    sum(bytes) as bytes,
    count(*) as requests
from {{ ref('stg_requests') }}
{% if is_incremental() %}
where stat_day between date('{{ var("from_day") }}') and date('{{ var("to_day") }}')
{% endif %}
group by stat_day, site_id
