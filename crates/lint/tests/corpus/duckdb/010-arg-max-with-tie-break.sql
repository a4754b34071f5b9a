-- form: script
-- expect: none
CREATE OR REPLACE TABLE latest_price AS
SELECT sku,
       arg_max(price, (changed_at, change_id)) AS price,
       max(changed_at) AS changed_at,
       first(currency ORDER BY changed_at DESC, change_id) AS currency
FROM raw.price_changes
GROUP BY sku;
