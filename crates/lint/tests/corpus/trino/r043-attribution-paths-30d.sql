-- form: dbt
-- expect: OM104 error `run_started_at`
-- expect: OM205 error `array_agg(t.channel)`
-- because: the day of the build is frozen into the SQL; rebuilding the table tomorrow for the same purpose selects another thirty days the channels are concatenated in arrival order of the splits, so the path of a customer changes from build to build
{{ config(materialized='table', properties={"format": "'ORC'"}) }}

{% set cutoff = run_started_at.strftime('%Y-%m-%d') %}

with touches as (

    select
        t.customer_id,
        t.channel,
        t.touched_at
    from {{ ref('int_touchpoints') }} as t
    where t.touch_date >= date '{{ cutoff }}' - interval '30' day
      and t.touch_date <  date '{{ cutoff }}'

),

conversions as (

    select customer_id, min(converted_at) as converted_at
    from {{ ref('fct_conversions') }}
    group by customer_id

)

select
    c.customer_id,
    c.converted_at,
    count(*)                                   as touches,
    array_join(array_agg(t.channel), ' > ')    as channel_path
from conversions as c
join touches as t
    on t.customer_id = c.customer_id
   and t.touched_at <= c.converted_at
group by c.customer_id, c.converted_at
