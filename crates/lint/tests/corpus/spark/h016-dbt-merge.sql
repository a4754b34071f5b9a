-- form: dbt
-- expect: OM305 error `select max(_commit_ts) from {{ this }}`
{{ config(
    materialized='incremental',
    file_format='delta',
    incremental_strategy='merge',
    unique_key='device_id'
) }}

select device_id, firmware, _commit_ts
from {{ source('iot', 'device_state') }}
{% if is_incremental() %}
where _commit_ts > (select max(_commit_ts) from {{ this }})
{% endif %}
