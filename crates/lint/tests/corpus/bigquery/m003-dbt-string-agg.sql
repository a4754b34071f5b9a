-- form: dbt
-- expect: OM205 error `string_agg(distinct tag, ', ')`
{{ config(
    materialized = 'table',
    cluster_by = 'article_id'
) }}

with tags as (
    select article_id, lower(trim(tag)) as tag
    from {{ ref('stg_cms__article_tags') }}
    where tag is not null
)

select
    article_id,
    string_agg(distinct tag, ', ') as tags,
    count(distinct tag) as tag_count
from tags
group by article_id
