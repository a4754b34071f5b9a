-- form: dbt
-- expect: OM102 error `current_date`
{{ config(materialized='incremental', unique_key='snapshot_sk') }}

select
    {{ dbt_utils.generate_surrogate_key(['current_date', 'deal_id']) }} as snapshot_sk,
    deal_id,
    stage,
    amount
from {{ ref('stg_deals') }}
