-- form: dbt
-- expect: OM305 warning `select dateadd('day', -3, max(created_at)) from {{ this }}`
{{ config(materialized='incremental', unique_key='pageview_id', incremental_strategy='merge') }}

select
    pageview_id,
    session_id,
    created_at,
    lower(page_path) as page_path
from {{ ref('stg_pageviews') }}
{% if is_incremental() %}
where created_at >= (select dateadd('day', -3, max(created_at)) from {{ this }})
{% endif %}
