-- form: dbt
-- expect: none
-- because: delete+insert with a scope column as unique_key replaces whole dates and needs no row uniqueness; the bounds are parameters; min_by/max_by order by a per-session unique sequence; clock only in an audit column.
{{
  config(
    materialized = 'incremental',
    incremental_strategy = 'delete+insert',
    unique_key = 'session_date',
    on_schema_change = 'fail',
    cluster_by = ['session_date']
  )
}}

-- One row per session. A session never leaves its session_date (cut upstream at midnight UTC),
-- so whole dates are thrown away and built again.
with pages as (

    select
        session_id,
        session_date,
        visitor_id,
        page_seq,
        page_path
    from {{ ref('stg_web__page_views') }}
    {% if is_incremental() %}
    where session_date >= '{{ var("start_date") }}'::date
      and session_date <  '{{ var("end_date") }}'::date
    {% endif %}

)

select
    session_id,
    session_date,
    visitor_id,
    min_by(page_path, page_seq)  as landing_page,   -- page_seq is unique per session (tested)
    max_by(page_path, page_seq)  as exit_page,
    count(*)                     as page_views,
    current_timestamp()          as dbt_loaded_at
from pages
group by session_id, session_date, visitor_id
