-- form: script
-- expect: OM111 warning `SELECT MAX(_TABLE_SUFFIX) FROM `retail_raw.price_export_*``
-- expect: OM202 error `ROW_NUMBER() OVER (PARTITION BY sku, market)`
-- because: A re-run after the next export reads another shard than the run it repeats, so the result depends on when it runs. ROW_NUMBER without ORDER BY keeps an arbitrary one of the systems' prices for a sku and market, another one on a re-run.
CREATE OR REPLACE TABLE `retail_mart.current_price_list`
CLUSTER BY sku
AS
WITH latest AS (
  SELECT
    sku,
    market,
    list_price,
    currency,
    source_system
  FROM `retail_raw.price_export_*`
  WHERE _TABLE_SUFFIX = (
    SELECT MAX(_TABLE_SUFFIX) FROM `retail_raw.price_export_*`
  )
),
numbered AS (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY sku, market) AS rn
  FROM latest
)
SELECT sku, market, list_price, currency, source_system
FROM numbered
WHERE rn = 1;
