-- form: dbt
-- expect: none
-- because: Plain table rebuilt from all input: arg_max decides ties by (seen_at, sighting_id), the list is distinct and ordered by its own value, sums are decimal, and no interval or clock is involved.
{{ config(materialized='table') }}

with sightings as (
    select
        sighting_id,
        species_code,
        grid_cell,
        observer_id,
        seen_at,
        individuals::decimal(9,0) as individuals
    from {{ ref('stg_birdlog__sightings') }}
    where not is_rejected
)

select
    species_code,
    grid_cell,
    count(*)                                                          as records,
    sum(individuals)                                                  as individuals,
    min(seen_at)                                                      as first_seen_at,
    max(seen_at)                                                      as last_seen_at,
    arg_max(observer_id, (seen_at, sighting_id))                      as last_observer_id,
    list(distinct extract('month' from seen_at) order by extract('month' from seen_at)) as months
from sightings
group by species_code, grid_cell
order by species_code, grid_cell
