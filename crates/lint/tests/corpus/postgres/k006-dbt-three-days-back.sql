-- form: dbt
-- expect: OM101 error `now()`
{{
    config(
        materialized = 'incremental',
        unique_key = 'ticket_id',
        incremental_strategy = 'delete+insert'
    )
}}

with tickets as (

    select * from {{ ref('stg_zendesk__ticket') }}

    {% if is_incremental() %}
    where updated_at >= now() - interval '3 days'
    {% endif %}

)

select
    ticket_id,
    requester_id,
    status,
    updated_at
from tickets
