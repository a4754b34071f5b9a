-- form: dbt
-- expect: OM101 error `NOW()`
{{ config(
    schema = 'bridge_arbitrum',
    alias = 'deposits',
    partition_by = ['block_month'],
    materialized = 'incremental',
    file_format = 'delta',
    incremental_strategy = 'merge',
    unique_key = ['tx_hash', 'evt_index']
) }}

SELECT
    cast(date_trunc('month', d.evt_block_time) AS date) AS block_month,
    d.evt_block_time AS block_time,
    d.evt_tx_hash AS tx_hash,
    d.evt_index,
    d.amount / power(10, 18) AS amount
FROM {{ source('bridge_arbitrum', 'Gateway_evt_Deposit') }} d
{% if is_incremental() %}
WHERE d.evt_block_time >= date_trunc('day', NOW() - INTERVAL '7' DAY)
{% endif %}
