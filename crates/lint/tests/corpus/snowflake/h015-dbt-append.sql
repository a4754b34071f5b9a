-- form: dbt
-- expect: OM501 error `materialized='incremental'`
{{ config(materialized='incremental', cluster_by=['page_view_date']) }}

select
    page_view_id,
    page_view_date,
    page_url,
    user_id
from {{ ref('stg_web__page_views') }}
{% if is_incremental() %}
where page_view_date = '{{ var("run_date") }}'
{% endif %}
