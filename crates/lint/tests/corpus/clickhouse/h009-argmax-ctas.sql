-- form: script
-- expect: OM204 warning `argMax(price, updated_at)`
-- expect: OM204 warning `any(currency)`
CREATE OR REPLACE TABLE shop.price_now
ENGINE = MergeTree
ORDER BY sku
AS SELECT sku, argMax(price, updated_at) AS price, any(currency) AS currency
FROM shop.price_log
GROUP BY sku;
