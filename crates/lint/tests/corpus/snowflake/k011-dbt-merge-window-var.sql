-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key=['order_id', 'line_number'],
    cluster_by=['order_date'],
    on_schema_change='sync_all_columns'
) }}

select
    l.order_id,
    l.line_number,
    o.order_date,
    l.sku,
    l.quantity,
    l.quantity * l.unit_price as gross_amount,
    current_timestamp() as dbt_loaded_at
from {{ ref('stg_shop__order_lines') }} as l
inner join {{ ref('stg_shop__orders') }} as o
    on l.order_id = o.order_id
{% if is_incremental() %}
where o.order_date >= '{{ var("start") }}' and o.order_date < '{{ var("end") }}'
{% endif %}
