-- form: dbt
-- expect: OM102 error `current_date`
-- because: clock inside the key, each night all customers get other keys.
{{ config(materialized='table', tags=['dim', 'nightly']) }}

-- one row per customer and nightly load

with c as (
    select
        customer_id,
        upper(trim(company_name))       as company_name,
        coalesce(segment, 'unknown')    as segment,
        country_iso2
    from {{ ref('stg_crm__customers') }}
    where not is_deleted
),

o as (
    select customer_id, count(*) as n_orders, min(ordered_on) as first_order_on
    from {{ ref('stg_shop__orders') }}
    group by customer_id
)

select
    {{ dbt_utils.generate_surrogate_key(['c.customer_id', 'current_date']) }} as customer_sk,
    c.customer_id,
    c.company_name,
    c.segment,
    c.country_iso2,
    coalesce(o.n_orders, 0) as n_orders,
    o.first_order_on
from c
left join o on o.customer_id = c.customer_id
