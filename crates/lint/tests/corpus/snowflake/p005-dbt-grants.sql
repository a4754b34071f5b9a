-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    unique_key='line_id',
    merge_exclude_columns=['created_at'],
    post_hook=["grant select on {{ this }} to role reporter", "alter table {{ this }} cluster by (day)"]
) }}
select line_id, day, sku, qty, current_timestamp() as created_at
from {{ ref('stg_lines') }}
{% if is_incremental() %}
where day >= '{{ var("from") }}' and day < '{{ var("to") }}'
{% endif %}
