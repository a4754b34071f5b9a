-- form: dbt
-- expect: none
{{ config(materialized='table') }}

select
    p.product_id,
    p.product_name,
    count(r.review_id) as reviews,
    avg(r.rating) as rating
from {{ ref('stg_product') }} p
left join {{ ref('stg_review') }} r on r.product_id = p.product_id
group by p.product_id, p.product_name
