-- form: dbt
-- expect: none
{{ config(materialized='view', bind=False) }}

select
    c.customer_id,
    c.first_name,
    count(o.order_id) as number_of_orders,
    min(o.order_date) as first_order
from {{ ref('stg_customers') }} c
left join {{ ref('stg_orders') }} o using (customer_id)
group by 1, 2
