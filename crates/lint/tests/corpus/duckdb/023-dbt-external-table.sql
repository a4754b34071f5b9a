-- form: dbt
-- expect: none
{{ config(materialized='external', location='out/daily_totals.parquet') }}

select day, shop_id, sum(cents) as cents
from {{ ref('stg_sales') }}
group by day, shop_id
