-- form: script
-- expect: OM113 error `rand()`
CREATE OR REPLACE TABLE gold.clicks_enriched AS
SELECT /*+ SHUFFLE_HASH(p) */ c.click_id, c.product_id, p.title
FROM silver.click c
JOIN silver.product_salted p
  ON p.product_id = c.product_id
 AND p.salt = CAST(floor(rand() * 8) AS INT);
