-- form: dbt
-- expect: OM101 error `getdate()`
{{ config(materialized='table', sort='employee_id') }}

with staff as (
    select employee_id, hired_on, left_on, team from {{ ref('stg_employees') }}
)
select
    employee_id,
    team,
    datediff(month, hired_on, coalesce(left_on, getdate())) as tenure_months
from staff
