-- form: dbt
-- expect: OM104 error `run_started_at`
{{ config(materialized='table') }}
{% set cutoff = run_started_at.strftime('%Y-%m-%d') %}

select subscription_id, account_id, starts_on, ends_on
from {{ ref('stg_billing__subscriptions') }}
where ends_on >= '{{ cutoff }}'
