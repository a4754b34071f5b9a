-- form: dbt
-- expect: none
-- because: insert_overwrite with partition_by and a static partition equal to the only day selected in the incremental world; a full refresh takes all days; APPROX-free, DATE() on BigQuery is UTC.
{%- set run_day = "date('" ~ var('run_date') ~ "')" -%}
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'insert_overwrite',
    partition_by = {'field': 'search_date', 'data_type': 'date', 'granularity': 'day'},
    partitions = [run_day],
    cluster_by = ['locale'],
    on_schema_change = 'fail'
  )
}}

select
    date(s.searched_at)                                         as search_date,
    s.locale,
    lower(trim(s.query_text))                                   as query_norm,
    count(*)                                                    as searches,
    countif(s.result_count = 0)                                 as zero_hits,
    count(distinct s.user_pseudo_id)                            as users,
    array_agg(distinct s.device_class order by s.device_class)  as devices
from {{ ref('base_search_events') }} as s
{% if is_incremental() %}
where s.searched_at >= timestamp({{ run_day }})
  and s.searched_at <  timestamp(date_add({{ run_day }}, interval 1 day))
{% endif %}
group by search_date, s.locale, query_norm
