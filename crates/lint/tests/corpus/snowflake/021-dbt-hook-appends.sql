-- form: dbt
-- expect: OM504 warning `insert into audit.model_runs…`
{{ config(
    materialized='table',
    post_hook="insert into audit.model_runs select '{{ this }}', count(*) from {{ this }}"
) }}

select region, sum(amount) as amount
from {{ ref('fct_sales') }}
group by region
