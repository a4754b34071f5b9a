-- form: dbt
-- expect: OM305 error `select max(updated_at) from {{ this }}`
{{
  config(
    materialized = 'incremental',
    unique_key = 'order_id',
    on_schema_change = 'append_new_columns'
  )
}}

with source as (
    select * from {{ source('shop', 'orders') }}
    {% if is_incremental() %}
    where updated_at > (select max(updated_at) from {{ this }})
    {% endif %}
),

renamed as (
    select
        id as order_id,
        customer_id,
        lower(status) as status,
        total_cents / 100.0 as total,
        updated_at
    from source
)

select * from renamed
