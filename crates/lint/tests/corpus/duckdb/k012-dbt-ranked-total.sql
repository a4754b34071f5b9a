-- form: dbt
-- expect: none
{{ config(materialized='table') }}

with matches as (
    select * from {{ ref('stg_matches') }}
),

points as (
    select season, team, sum(points) as points, sum(goals_for - goals_against) as goal_diff
    from matches
    group by season, team
)

select
    season,
    team,
    points,
    goal_diff,
    row_number() over (partition by season order by points desc, goal_diff desc, team) as position
from points
