-- form: dbt
-- expect: none
{{ config(materialized='table') }}
with scores as (
    select team, season, sum(points) as points
    from {{ ref('stg_results') }}
    group by team, season
)
select season, team, points, dense_rank() over (partition by season order by points desc) as place
from scores
