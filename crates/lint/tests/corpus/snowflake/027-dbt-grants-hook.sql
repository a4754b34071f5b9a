-- form: dbt
-- expect: none
{{ config(
    materialized='table',
    post_hook=["grant select on {{ this }} to role reporter", "alter table {{ this }} cluster by (region)"]
) }}

select region, count(*) as partners
from {{ ref('stg_partners') }}
group by region
