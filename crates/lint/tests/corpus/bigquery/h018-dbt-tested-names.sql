-- form: dbt
-- expect: none
{{ config(materialized='table') }}
-- do not use current_timestamp() here, see the style guide
select
    f.film_id,
    f.title,
    f.last as last_shown,
    'limit 10' as hint,
    count(s.screening_id) as screenings
from {{ ref('stg_film') }} as f
left join {{ ref('stg_screening') }} as s on s.film_id = f.film_id
where f.released_on >= '2010-01-01'
group by 1, 2, 3
