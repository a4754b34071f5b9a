-- form: dbt
-- expect: OM111 warning `select max(snapshot_day) from {{ ref('stg_snapshots') }}`
{{ config(materialized='table') }}

select product_id, stock, snapshot_day
from {{ ref('stg_snapshots') }}
where snapshot_day = (select max(snapshot_day) from {{ ref('stg_snapshots') }})
