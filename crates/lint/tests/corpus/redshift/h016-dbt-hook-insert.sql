-- form: dbt
-- expect: OM504 warning `insert into meta.model_runs (model_name) values ('dim_branch')`
{{ config(
    materialized='table',
    post_hook=[
      "grant select on {{ this }} to group bi_readers",
      "insert into meta.model_runs (model_name) values ('dim_branch')"
    ]
) }}
select branch_code, branch_name, region from {{ ref('stg_branch') }}
