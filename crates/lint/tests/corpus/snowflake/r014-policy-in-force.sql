-- form: dbt
-- expect: none
-- because: delete+insert on the scope column replaces exactly the as_of day asked for; the whole day is recomputed from effective-dated rows from the parameter, no clock is read, and full_refresh=false keeps the other days.
{#- one slice per as_of day; the orchestrator passes --vars '{"as_of": "..."}' and loops over days for a rebuild -#}
{{ config(
    materialized = 'incremental',
    incremental_strategy = 'delete+insert',
    unique_key = 'as_of_date',
    full_refresh = false
) }}

{%- set as_of = "to_date('" ~ var('as_of') ~ "')" %}

select
    {{ as_of }}                             as as_of_date,
    p.product_line,
    p.broker_id,
    count(*)                                as policies,
    sum(p.annual_premium)                   as premium,
    sum(iff(p.renewal_no > 0, 1, 0))        as renewals
from {{ ref('int_policy_versions') }} as p
where p.effective_from <= {{ as_of }}
  and (p.effective_to is null or p.effective_to > {{ as_of }})
group by p.product_line, p.broker_id
