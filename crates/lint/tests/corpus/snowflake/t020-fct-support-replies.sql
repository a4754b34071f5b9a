-- form: dbt
-- expect: OM305 error `select coalesce(max(replied_at), '1900-01-01') from {{ this }}`
-- because: the window depends on what earlier runs stored; late replies are lost and a past day cannot be rebuilt
{{ config(
    materialized = 'incremental',
    tags = ['support', 'hourly']
) }}

with replies as (

    select
        reply_id,
        ticket_id,
        agent_id,
        replied_at,
        length(body_text)           as body_len,
        {{ dbt_utils.generate_surrogate_key(['ticket_id', 'reply_id']) }} as reply_key
    from {{ ref('stg_helpdesk__replies') }}
    where is_private = false

    {% if is_incremental() %}
      and replied_at > (select coalesce(max(replied_at), '1900-01-01') from {{ this }})
    {% endif %}

)

select * from replies
