-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='trade_day'
) }}

select
    t.trade_day,
    t.desk,
    sum(t.notional) as notional,
    count(*) as trades
from {{ ref('stg_trades') }} as t
{% if is_incremental() %}
where t.trade_day >= '{{ var("from_day") }}' and t.trade_day < '{{ var("to_day") }}'
{% endif %}
group by t.trade_day, t.desk
