-- form: script
-- expect: OM106 warning `monotonically_increasing_id()`
CREATE OR REPLACE TABLE gold.dim_brand AS
SELECT monotonically_increasing_id() AS brand_sk, brand
FROM (SELECT DISTINCT brand FROM silver.product WHERE brand IS NOT NULL);
