-- form: dbt
-- expect: OM105 error `generate_uuid()`
{{ config(materialized='table') }}

select
    generate_uuid() as review_sk,
    product_id,
    reviewer_id,
    stars
from {{ ref('stg_reviews') }}
where stars between 1 and 5
