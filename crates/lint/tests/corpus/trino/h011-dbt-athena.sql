-- form: dbt
-- expect: OM501 error `incremental_strategy='append'`
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    table_type='hive',
    partitioned_by=['dt']
) }}
select request_id, status_code, dt
from {{ source('cdn', 'access_log') }}
{% if is_incremental() %}
where dt = '{{ var("dt") }}'
{% endif %}
