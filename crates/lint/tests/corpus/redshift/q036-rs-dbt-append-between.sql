-- form: dbt
-- expect: OM501 error `materialized = 'incremental'`
-- expect: OM402 warning `v.created_at between '{{ var("window_start") }}' and '{{ var("window_end") }}'`
-- because: No unique_key and no replacing strategy: on Redshift this appends, so building the same window twice doubles its votes. A vote at exactly window_end (a timestamp) belongs to this window and to the next one.
{{
  config(
    materialized = 'incremental',
    dist = 'user_id',
    sort = ['created_at']
  )
}}

with votes as (

    select
        v.vote_id,
        v.user_id,
        v.proposal_id,
        v.choice,
        v.weight::numeric(38, 0)  as weight,
        v.created_at
    from {{ source('governance', 'votes') }} as v
    {% if is_incremental() %}
    where v.created_at between '{{ var("window_start") }}' and '{{ var("window_end") }}'
    {% endif %}

)

select
    votes.*,
    p.space_id,
    p.title as proposal_title
from votes
left join {{ ref('stg_governance__proposals') }} as p
  on p.proposal_id = votes.proposal_id
