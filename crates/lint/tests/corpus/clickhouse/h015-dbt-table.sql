-- form: dbt
-- expect: none
{{ config(materialized='table', engine='MergeTree()', order_by='city') }}
select city, countIf(rating >= 4) as good, count() as total, max(rating) as best
from {{ ref('stg_hotel_review') }}
group by city
