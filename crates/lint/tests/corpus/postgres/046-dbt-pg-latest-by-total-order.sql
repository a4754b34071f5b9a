-- form: dbt
-- expect: none
{{ config(materialized='table') }}

with changes as (
    select listing_id, price, listed_on, change_id
    from {{ ref('stg_listing_changes') }}
    where price > 0
),
numbered as (
    select *, row_number() over (partition by listing_id order by listed_on desc, change_id desc) as rn
    from changes
)

select listing_id, price, listed_on
from numbered
where rn = 1
