-- form: dbt
-- expect: none
{{
  config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'session_date', 'data_type': 'date'}
  )
}}

with hits as (
  select session_date, client_id, page_path
  from {{ source('web', 'hits') }}
  {% if is_incremental() %}
  where session_date between date('{{ var("first_day") }}') and date('{{ var("last_day") }}')
  {% endif %}
)

select session_date, client_id, count(*) as hits, count(distinct page_path) as pages
from hits
group by session_date, client_id
