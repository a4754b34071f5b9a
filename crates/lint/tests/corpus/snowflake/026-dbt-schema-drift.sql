-- form: dbt
-- expect: OM503 warning `on_schema_change='ignore'`
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='claim_day',
    on_schema_change='ignore'
) }}

select *
from {{ ref('stg_claims') }}
{% if is_incremental() %}
where claim_day = '{{ var("day") }}'
{% endif %}
