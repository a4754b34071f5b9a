-- form: dbt
-- expect: none
{{ config(
    schema = 'prices',
    alias = 'day',
    materialized = 'incremental',
    file_format = 'delta',
    incremental_strategy = 'merge',
    unique_key = ['blockchain', 'contract_address', 'day']
) }}

select
    blockchain,
    contract_address,
    date_trunc('day', minute) as day,
    max_by(price, (minute, source_id)) as price_close
from {{ source('prices', 'minute') }}
where minute >= timestamp '{{ var("from") }}' and minute < timestamp '{{ var("to") }}'
group by 1, 2, 3
