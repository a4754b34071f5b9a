-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='snapshot_day'
) }}

select
    '{{ var("snapshot_day") }}'::date as snapshot_day,
    sku,
    sum(quantity) as quantity
from {{ ref('stg_wms__stock') }}
where stock_day = '{{ var("snapshot_day") }}'
group by 1, 2
