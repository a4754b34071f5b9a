-- form: dbt
-- expect: OM501 error `materialized='incremental'`
{{ config(
    materialized='incremental',
    engine='MergeTree()',
    order_by='(repo, day)',
    partition_by='toYYYYMM(day)'
) }}
select repo, day, count() as pushes
from {{ source('github', 'push_events') }}
{% if is_incremental() %}
where day = toDate('{{ var("day") }}')
{% endif %}
group by repo, day
