-- form: dbt
-- expect: OM104 error `run_started_at`
-- because: the clock of the dbt run is frozen into the SQL, rebuilt in June the ageing differs.
{{ config(materialized='table') }}
{% set as_of = run_started_at.strftime('%Y-%m-%d') %}

with tickets as (
    select ticket_id, team, priority, opened_on, closed_on
    from {{ ref('stg_zendesk__tickets') }}
),

aged as (
    select
        ticket_id,
        team,
        priority,
        opened_on,
        date '{{ as_of }}' - opened_on as age_days
    from tickets
    where opened_on <= date '{{ as_of }}'
      and (closed_on is null or closed_on > date '{{ as_of }}')
)

select
    team,
    priority,
    count(*)                                   as open_tickets,
    count(*) filter (where age_days > 30)      as older_than_30,
    max(age_days)                              as oldest_days
from aged
group by team, priority
