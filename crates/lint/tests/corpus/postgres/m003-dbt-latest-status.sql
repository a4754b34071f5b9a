-- form: dbt
-- expect: OM201 warning `row_number() over (partition by order_id order by updated_at desc)`
{{ config(materialized='table') }}

with events as (
    select * from {{ source('webhooks', 'order_event') }}
),

latest as (
    select
        order_id,
        payload ->> 'status' as status,
        updated_at,
        row_number() over (partition by order_id order by updated_at desc) as rn
    from events
)

select order_id, status, updated_at
from latest
where rn = 1
