-- form: dbt
-- expect: OM501 error `materialized='incremental'`
{{
    config(
        materialized='incremental',
        partition_by={'field': 'quote_day', 'data_type': 'date'},
        cluster_by=['symbol']
    )
}}

with quotes as (
    select symbol, quote_day, close_price, volume
    from {{ source('market', 'quotes') }}
    {% if is_incremental() %}
    where quote_day = date('{{ var("day") }}')
    {% endif %}
)

select
    symbol,
    quote_day,
    close_price,
    volume
from quotes
