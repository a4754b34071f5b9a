-- form: dbt
-- expect: OM506 error `incremental_predicates = [ "DBT_INTERNAL_DEST.ship_date >= dateadd(day, -3, to_d …`
-- because: Source rows 4 to 10 days old do not find their target row, because the target is cut at 3 days, so each run inserts them again.
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'merge',
    unique_key = ['shipment_id', 'ship_date'],
    incremental_predicates = [
      "DBT_INTERNAL_DEST.ship_date >= dateadd(day, -3, to_date('" ~ var('run_date') ~ "'))"
    ],
    on_schema_change = 'append_new_columns'
  )
}}

select
    shipment_id,
    ship_date,
    max(carrier)                       as carrier,
    max(delivered_at)                  as delivered_at,
    count_if(scan_type = 'EXCEPTION')  as exceptions
from {{ source('logistics', 'shipment_scans') }}
where ship_date is not null
  and shipment_id is not null
{% if is_incremental() %}
  -- carriers correct scans for up to ten days
  and ship_date >= dateadd(day, -10, to_date('{{ var("run_date") }}'))
  and ship_date <  dateadd(day, 1, to_date('{{ var("run_date") }}'))
{% endif %}
group by shipment_id, ship_date
