-- form: dbt
-- expect: OM201 warning `row_number() over (partition by customer_id order by valid_from desc)`
{{ config(materialized='table', tags=['nightly']) }}

with ranked as (
    select
        customer_id,
        street,
        city,
        postcode,
        row_number() over (partition by customer_id order by valid_from desc) as rn
    from {{ ref('stg_addresses') }}
    where is_billing
)

select customer_id, street, city, postcode
from ranked
where rn = 1
