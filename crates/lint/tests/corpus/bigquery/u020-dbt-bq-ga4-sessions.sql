-- form: dbt
-- expect: OM101 error `current_date()`
-- because: the last three days by the clock, a day of March cannot be rebuilt.
{{
  config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'session_date', 'data_type': 'date'},
    on_schema_change='append_new_columns'
  )
}}

select
  parse_date('%Y%m%d', event_date)                             as session_date,
  user_pseudo_id,
  (select ep.value.int_value from unnest(event_params) ep
   where ep.key = 'ga_session_id')                             as ga_session_id,
  min(event_timestamp)                                         as session_start_us,
  countif(event_name = 'page_view')                            as page_views,
  sum(ecommerce.purchase_revenue_in_usd)                       as revenue_usd
from {{ source('ga4', 'events') }}
{% if is_incremental() %}
where _table_suffix >= format_date('%Y%m%d', date_sub(current_date(), interval 3 day))
{% endif %}
group by 1, 2, 3
