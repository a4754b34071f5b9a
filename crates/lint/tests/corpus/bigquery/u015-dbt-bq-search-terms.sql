-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'search_date', 'data_type': 'date', 'granularity': 'day'},
    partitions=["date '" ~ var('run_date') ~ "'"]
) }}

{#- run_date is handed over by composer, current_date() was removed in #1187 -#}

with searches as (
  select
    search_date,
    lower(trim(query_text)) as term,
    visitor_id,
    n_results
  from {{ source('site', 'search_log') }}
  {% if is_incremental() %}
  where search_date = date '{{ var("run_date") }}'
  {% endif %}
)

select
  search_date,
  term,
  count(*)                   as searches,
  count(distinct visitor_id) as visitors,
  countif(n_results = 0)     as without_result,
  max(n_results)             as max_results
from searches
where term != ''
group by search_date, term
