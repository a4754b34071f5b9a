-- form: dbt
-- expect: OM305 warning `select dateadd('day', -3, max(created_at)) from {{ this }}`
{{ config(materialized='incremental', unique_key='session_id', incremental_strategy='merge') }}

select
    session_id,
    min(created_at) as created_at,
    count(*) as pageviews,
    count(distinct page_path) as pages
from {{ ref('stg_pageviews') }}
{% if is_incremental() %}
where created_at >= (select dateadd('day', -3, max(created_at)) from {{ this }})
{% endif %}
group by session_id
