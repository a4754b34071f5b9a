-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='delete_insert',
    engine='MergeTree()',
    order_by='(site_id, day)',
    unique_key='day'
) }}

select
    day,
    site_id,
    uniqExact(visitor_id) as visitors
from {{ ref('stg_visits') }}
where day = toDate('{{ var("day") }}')
group by day, site_id
