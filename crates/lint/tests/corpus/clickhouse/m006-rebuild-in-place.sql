-- form: script
-- expect: none
TRUNCATE TABLE IF EXISTS stage.price_build;
INSERT INTO stage.price_build
SELECT sku, argMax(price, (changed_at, change_no)) AS price
FROM raw.price_change
GROUP BY sku;
EXCHANGE TABLES stage.price_build AND mart.price;
