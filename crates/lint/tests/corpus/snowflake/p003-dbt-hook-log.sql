-- form: dbt
-- expect: OM504 warning `insert into ops.model_log (model, ran_at) select '{{ this.name }}', current_timestamp`
{{ config(
    materialized='table',
    post_hook="insert into ops.model_log (model, ran_at) select '{{ this.name }}', current_timestamp"
) }}
select region_id, count(*) as stores from {{ ref('stg_store') }} group by region_id
