-- form: dbt
-- expect: none
{{ config(materialized='table', cluster_by=['country']) }}

with members as (
    select member_id, country, joined_on from {{ ref('stg_members') }}
),
bookings as (
    select member_id, count(*) as bookings, max(booked_on) as last_booked_on
    from {{ ref('stg_bookings') }}
    group by member_id
)

select
    m.member_id,
    m.country,
    m.joined_on,
    coalesce(b.bookings, 0) as bookings,
    b.last_booked_on,
    current_timestamp() as dbt_loaded_at
from members m
left join bookings b on b.member_id = m.member_id
