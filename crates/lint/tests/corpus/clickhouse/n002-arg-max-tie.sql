-- form: script
-- expect: OM204 warning `argMax(price, changed_at)`
CREATE OR REPLACE TABLE mart.price ENGINE = MergeTree ORDER BY sku AS
SELECT sku, argMax(price, changed_at) AS price FROM raw.price_log GROUP BY sku;
