-- form: dbt
-- expect: OM104 error `run_started_at`
{{ config(materialized='table') }}
select account_id, plan, renewal_date
from {{ ref('stg_contracts') }}
where renewal_date < '{{ run_started_at.strftime("%Y-%m-%d") }}'
