-- form: dbt
-- expect: OM304 error `t.lead_id is null`
{{ config(materialized='incremental', unique_key='lead_id') }}

select s.lead_id, s.email, s.source, s.created_at
from {{ ref('stg_leads') }} as s
{% if is_incremental() %}
left join {{ this }} as t on t.lead_id = s.lead_id
where t.lead_id is null
{% endif %}
