-- form: dbt
-- expect: none
{{ config(materialized='table', indexes=[{'columns': ['party_id'], 'unique': True}]) }}

with people as (
    select person_id as party_id, 'person' as kind, display_name from {{ ref('stg_people') }}
),
companies as (
    select company_id as party_id, 'company' as kind, legal_name as display_name from {{ ref('stg_companies') }}
)

select * from people
union all
select * from companies
