-- form: dbt
-- expect: none
{{ config(
    materialized='table',
    post_hook=["GRANT SELECT ON {{ this }} TO `analysts`", "ANALYZE TABLE {{ this }} COMPUTE STATISTICS"]
) }}

{% do log('dim_course started ' ~ run_started_at, info=true) %}
-- built by invocation {{ invocation_id }}

with course as (
    select course_id, title, faculty_id, ects, retired_on
    from {{ ref('stg_sis__course') }}
),

prereq as (
    select course_id,
           array_join(array_sort(collect_set(requires_course_id)), ',') as requires
    from {{ ref('stg_sis__prerequisite') }}
    group by course_id
)

select
    {{ dbt_utils.generate_surrogate_key(['c.course_id']) }} as course_key,
    c.course_id,
    c.title,
    c.faculty_id,
    cast(c.ects as decimal(4, 1)) as ects,
    coalesce(p.requires, '')      as requires,
    c.retired_on
from course c
left join prereq p on p.course_id = c.course_id
