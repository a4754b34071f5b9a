-- form: dbt
-- expect: OM305 error `select max(collector_tstamp) from {{ this }}`
-- because: watermark taken from the model's own table, late events never arrive.
{{ config(
    materialized = 'incremental',
    cluster_by = ['to_date(viewed_at)'],
    tags = ['web', 'hourly']
) }}

with source as (

    select * from {{ source('snowplow', 'events') }}
    where event_name = 'page_view'
    {% if is_incremental() %}
      and collector_tstamp > (select max(collector_tstamp) from {{ this }})
    {% endif %}

),

final as (

    select
        event_id,
        domain_userid      as visitor_id,
        domain_sessionid   as session_id,
        page_urlpath       as path,
        refr_urlhost       as referrer_host,
        derived_tstamp     as viewed_at,
        collector_tstamp
    from source
    where page_urlpath is not null

)

select * from final
