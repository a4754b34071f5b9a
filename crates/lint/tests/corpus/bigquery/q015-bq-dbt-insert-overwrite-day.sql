-- form: dbt
-- expect: none
-- because: insert_overwrite with partition_by and an explicit partition equal to the filter; array_agg picks have a total order ending in event_id; the literal date is a history floor, and HLL counting is order-free.
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    partition_by = {'field': 'event_date', 'data_type': 'date'},
    partitions = ["date '" ~ var('run_date') ~ "'"],
    cluster_by = ['user_pseudo_id'],
    require_partition_filter = true
  )
}}

with base as (
  select
    event_date,
    user_pseudo_id,
    event_id,
    event_timestamp,
    platform,
    app_version
  from {{ ref('base_ga4__events') }}
  where event_date >= '2021-06-01'   -- collection started here
  {% if is_incremental() %}
    and event_date = date '{{ var("run_date") }}'
  {% endif %}
)

select
  event_date,
  user_pseudo_id,
  array_agg(platform ignore nulls order by event_timestamp desc, event_id desc limit 1)[safe_offset(0)] as last_platform,
  array_agg(app_version ignore nulls order by event_timestamp desc, event_id desc limit 1)[safe_offset(0)] as last_app_version,
  count(*) as events,
  approx_count_distinct(event_id) as approx_events
from base
group by event_date, user_pseudo_id
