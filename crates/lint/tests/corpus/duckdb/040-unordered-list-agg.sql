-- form: script
-- expect: OM205 error `list(product_id)`
CREATE OR REPLACE TABLE basket AS
SELECT order_id, list(product_id) AS products
FROM raw.order_lines
GROUP BY order_id;
