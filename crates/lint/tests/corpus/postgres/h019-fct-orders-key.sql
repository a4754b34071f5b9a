-- form: dbt
-- expect: none
{{
    config(
        materialized = 'incremental',
        unique_key = 'order_id',
        on_schema_change = 'append_new_columns'
    )
}}

with orders as (
    select order_id, customer_id, ordered_at, status from {{ ref('stg_shop__orders') }}
    {% if is_incremental() %}
    where ordered_at >= '{{ var("start_date") }}' and ordered_at < '{{ var("end_date") }}'
    {% endif %}
),

final as (
    select
        o.order_id,
        o.customer_id,
        o.ordered_at,
        o.status in ('returned', 'return_pending') as is_returned
    from orders o
)

select order_id, customer_id, ordered_at, is_returned from final
