-- form: dbt
-- expect: OM201 warning `last_value(stage) over (partition by deal_id order by changed_at rows between unbounded preceding and unbounded following)`
{{ config(materialized='table') }}

select distinct
    deal_id,
    last_value(stage) over (partition by deal_id order by changed_at rows between unbounded preceding and unbounded following) as stage
from {{ ref('stg_deal_changes') }}
