-- form: dbt
-- expect: OM506 error `incremental_predicates = [ "DBT_INTERNAL_DEST.refund_day >= dateadd(day, -3, '" …`
-- expect: OM504 warning `insert into ops.model_runs (model, run_day, n) select '{{ this.name }}', '{{ var …`
-- because: the target is searched over 3 days, the source delivers 10: older refunds do not match and are inserted again the hook appends a log row at every retry
{{ config(
    materialized = 'incremental',
    incremental_strategy = 'merge',
    unique_key = 'refund_id',
    incremental_predicates = [
        "DBT_INTERNAL_DEST.refund_day >= dateadd(day, -3, '" ~ var('run_day') ~ "'::date)"
    ],
    post_hook = "insert into ops.model_runs (model, run_day, n) select '{{ this.name }}', '{{ var('run_day') }}', count(*) from {{ this }}"
) }}

select
    refund_id,
    order_id,
    refund_day,
    reason_code,
    sum(amount_cents) as amount_cents
from {{ ref('stg_psp__refund_lines') }}
where refund_id is not null
{% if is_incremental() %}
  and refund_day >  dateadd(day, -10, '{{ var("run_day") }}'::date)
  and refund_day <= '{{ var("run_day") }}'::date
{% endif %}
group by refund_id, order_id, refund_day, reason_code
