-- form: dbt
-- expect: OM102 error `current_date()`
-- expect: OM102 error `current_date()`
-- because: re-running the failed Tuesday on Thursday writes Thursday's key; Tuesday stays missing for ever the snapshot's day is the clock of the run instead of the day asked for
{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    unique_key='snapshot_key',
    on_schema_change='append_new_columns'
) }}

-- one row per account and day, feeds the churn board
select
      md5(to_char(current_date(), 'YYYY-MM-DD') || '-' || a.account_id)  as snapshot_key
    , current_date()                                                   as snapshot_date
    , a.account_id
    , a.plan_code
    , a.mrr_cents
    , a.seats
    , case when a.cancel_requested then 'at_risk' else 'ok' end        as health
from {{ ref('stg_billing__accounts') }} a
where not a.is_internal
