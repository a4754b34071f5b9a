-- form: dbt
-- expect: OM305 warning `select dateadd(day, -3, max(updated_at)) from {{ this }}`
-- because: the lower bound is the target's own maximum less three days: an older month cannot be rebuilt and rows later than three days are lost
{{ config(
    materialized = 'incremental',
    incremental_strategy = 'delete+insert',
    unique_key = 'order_line_id',
    sort = 'updated_at',
    on_schema_change = 'sync_all_columns'
) }}

with lines as (

    select
        order_line_id
      , order_id
      , sku
      , quantity
      , unit_price
      , quantity * unit_price as line_total
      , updated_at
    from {{ ref('stg_shop__order_lines') }} -- one row per order_line_id (tested unique)

    {% if is_incremental() %}
    where updated_at >= (
        select dateadd(day, -3, max(updated_at))
        from {{ this }}
    )
    {% endif %}

)

select
    l.*,
    p.category_id,
    p.tax_class
from lines l
left join {{ ref('dim_product') }} p on p.sku = l.sku
