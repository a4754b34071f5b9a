-- form: dbt
-- expect: OM105 error `newid()`
{{ config(materialized='table', as_columnstore=false) }}

select
    newid() as visit_key,
    visit_no,
    clinic_code
from {{ ref('stg_visits') }}
