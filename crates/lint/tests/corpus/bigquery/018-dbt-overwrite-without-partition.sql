-- form: dbt
-- expect: OM502 error `incremental_strategy='insert_overwrite'`
{{ config(materialized='incremental', incremental_strategy='insert_overwrite') }}

select visit_date, site_id, count(*) as visits
from {{ ref('stg_visits') }}
{% if is_incremental() %}
where visit_date = '{{ var("day") }}'
{% endif %}
group by visit_date, site_id
