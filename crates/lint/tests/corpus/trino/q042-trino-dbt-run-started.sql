-- form: dbt
-- expect: OM104 error `run_started_at`
-- because: run_started_at is the clock frozen at compile time, so a repair run in June rebuilds three days of June and can never reach March.
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'merge',
    unique_key = ['pool_id', 'metric_day'],
    on_schema_change = 'fail'
  )
}}

{% set lookback_days = 3 %}
{% set today = run_started_at.strftime('%Y-%m-%d') %}

select
    s.pool_id,
    s.metric_day,
    count(*)                          as swaps,
    sum(s.amount_in)                  as amount_in,
    sum(s.fee)                        as fee,
    count(distinct s.trader)          as traders
from {{ ref('stg_dex__swaps') }} as s
where s.pool_id is not null
  and s.metric_day is not null
{% if is_incremental() %}
  and s.metric_day >= date_add('day', -{{ lookback_days }}, date '{{ today }}')
  and s.metric_day <  date '{{ today }}'
{% endif %}
group by s.pool_id, s.metric_day
