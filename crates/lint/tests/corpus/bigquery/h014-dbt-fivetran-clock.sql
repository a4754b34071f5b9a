-- form: dbt
-- expect: OM101 error `current_date()`
{{ config(materialized='table') }}

with tickets as (
    select ticket_id, assignee_id, created_at, solved_at
    from {{ ref('int_zendesk__tickets') }}
)

select
    ticket_id,
    assignee_id,
    date_diff(coalesce(date(solved_at), current_date()), date(created_at), day) as days_open
from tickets
