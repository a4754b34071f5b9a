-- form: dbt
-- expect: OM101 error `current_date()`
{{ config(
    materialized='incremental',
    unique_key='order_line_id',
    partition_by={'field': 'order_date', 'data_type': 'date'}
) }}

select
    l.order_line_id,
    o.order_date,
    l.sku,
    l.quantity * l.unit_price as amount
from {{ ref('stg_order_lines') }} l
join {{ ref('stg_orders') }} o using (order_id)
{% if is_incremental() %}
where o.order_date >= date_sub(current_date(), interval 3 day)
{% endif %}
