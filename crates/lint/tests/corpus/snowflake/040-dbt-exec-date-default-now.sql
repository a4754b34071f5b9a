-- form: dbt
-- expect: OM104 warning `modules.datetime.datetime.now()`
{% set cutoff = var('cutoff', modules.datetime.datetime.now().strftime('%Y-%m-%d')) %}
{{ config(materialized='table') }}

select user_id, max(logged_in_on) as last_login_on
from {{ ref('stg_logins') }}
where logged_in_on < '{{ cutoff }}'
group by user_id
