-- form: dbt
-- expect: OM501 error `incremental_strategy='append'`
{{ config(materialized='incremental', incremental_strategy='append', file_format='delta') }}

select sensor_id, measured_at, pm10, pm25
from {{ source('air', 'measurements') }}
{% if is_incremental() %}
where date(measured_at) = '{{ var("day") }}'
{% endif %}
