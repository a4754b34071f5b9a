-- form: dbt
-- expect: OM201 warning `row_number() over (partition by user_email order by user_joined_on desc)`
{{ config(materialized='table') }}

with users as (
    select * from {{ source('ol_raw', 'auth_user') }}
)

, deduped as (
    select
        user_email
        , user_id
        , user_country
        , row_number() over (partition by user_email order by user_joined_on desc) as row_num
    from users
)

select user_email, user_id, user_country
from deduped
where row_num = 1
