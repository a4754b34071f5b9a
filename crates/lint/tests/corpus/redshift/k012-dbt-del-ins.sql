-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='posting_month',
    dist='account_id',
    sort=['posting_month', 'account_id']
) }}

with lines as (
    select account_id, date_trunc('month', posted_on) as posting_month, amount
    from {{ ref('stg_ledger__line') }}
    {% if is_incremental() %}
    where posted_on >= '{{ var("month_start") }}' and posted_on < '{{ var("month_end") }}'
    {% endif %}
)

select posting_month, account_id, sum(amount) as amount
from lines
group by 1, 2
