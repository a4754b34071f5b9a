-- form: dbt
-- expect: none
{{ config(
    schema = 'gas',
    alias = 'fees_daily',
    materialized = 'table',
    file_format = 'delta',
    post_hook = '{{ expose_spells(\'["ethereum"]\', "sector", "gas", \'["someone"]\') }}'
) }}

SELECT
    date_trunc('day', t.block_time) AS day,
    sum(t.gas_used * t.gas_price) / 1e18 AS eth_fees,
    approx_distinct(t."from") AS senders
FROM {{ source('ethereum', 'transactions') }} t
WHERE t.success
GROUP BY 1
