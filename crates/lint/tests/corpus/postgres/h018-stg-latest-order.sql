-- form: dbt
-- expect: OM201 warning `row_number() over (partition by id order by _airbyte_extracted_at desc)`
{{ config(materialized='table', tags=['staging', 'shop']) }}

with source as (

    select * from {{ source('shopify', 'orders') }}

),

ranked as (

    select
        id as order_id,
        customer_id,
        total_price,
        row_number() over (partition by id order by _airbyte_extracted_at desc) as rn
    from source

)

select order_id, customer_id, total_price
from ranked
where rn = 1
