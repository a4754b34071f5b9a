-- form: script
-- expect: OM106 warning `monotonically_increasing_id()`
CREATE OR REPLACE TABLE gold.dim_product
USING DELTA AS
SELECT monotonically_increasing_id() AS product_sk,
       product_code, product_name, category
FROM silver.product;
