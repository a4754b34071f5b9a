-- form: dbt
-- expect: none
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='booking_day',
    dist='even'
) }}

with lines as (
    select booking_day, hotel_code, nights, amount
    from {{ ref('stg_pms__reservation_line') }}
    {% if is_incremental() %}
    where booking_day >= '{{ var("from_day") }}' and booking_day < '{{ var("until_day") }}'
    {% endif %}
)

select booking_day, hotel_code, sum(nights) as nights, sum(amount) as amount
from lines
group by booking_day, hotel_code
