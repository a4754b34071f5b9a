-- form: dbt
-- expect: OM104 error `run_started_at`
{{ config(materialized='table') }}

{% set today = run_started_at.strftime('%Y-%m-%d') %}

select
    member_id,
    plan,
    datediff('day', joined_on, '{{ today }}'::date) as days_member
from {{ ref('stg_members') }}
where joined_on <= '{{ today }}'::date
