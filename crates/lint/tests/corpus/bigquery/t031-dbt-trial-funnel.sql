-- form: dbt
-- expect: OM104 error `run_started_at`
-- because: the day rebuilt comes from the clock of the dbt invocation, a re-run in June cannot rebuild a day of March
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    partition_by = {'field': 'signup_date', 'data_type': 'date'},
    labels = {'team': 'growth'}
  )
}}

{% set cutoff = run_started_at.strftime('%Y-%m-%d') %}

with signup as (
    select account_id, signup_date, plan_code
    from {{ ref('stg_billing__accounts') }}
    {% if is_incremental() %}
    where signup_date = date_sub(date('{{ cutoff }}'), interval 14 day)
    {% endif %}
),

paid as (
    select account_id, min(invoice_date) as first_paid
    from {{ ref('stg_billing__invoices') }}
    where amount_cents > 0
    group by account_id
)

select
    s.signup_date,
    s.plan_code,
    count(*)                                                                     as trials,
    countif(p.first_paid <= date_add(s.signup_date, interval 14 day))            as converted
from signup s
left join paid p on p.account_id = s.account_id
group by 1, 2
