-- form: script
-- expect: none
CREATE OR REPLACE TABLE gold.views_enriched AS
SELECT v.view_id, v.product_id, p.title
FROM silver.view v
JOIN silver.product_salted p
  ON p.product_id = v.product_id
 AND p.salt = pmod(hash(v.view_id), 8);
