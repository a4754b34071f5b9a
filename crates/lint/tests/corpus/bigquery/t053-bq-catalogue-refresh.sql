-- form: script
-- expect: none
/*
  Full rebuild of the product catalogue (small, 40k rows).
  Previously: INSERT INTO ... WHERE updated > CURRENT_TIMESTAMP() - 1 day -- do not bring back!
*/
CREATE TABLE IF NOT EXISTS `shop.ops.catalogue_audit` (
  run_id     STRING NOT NULL,
  noted_at   TIMESTAMP DEFAULT CURRENT_TIMESTAMP(),
  row_uuid   STRING DEFAULT GENERATE_UUID()
);

CREATE OR REPLACE TABLE `shop.core.catalogue`
CLUSTER BY brand
AS
SELECT
  p.sku,
  p.brand,
  TRIM(p.title)                                   AS title,
  DATE(p.created_at)                              AS created_on,
  TO_HEX(MD5(CONCAT(p.sku, '|', p.brand)))        AS sku_key,
  EXISTS (SELECT 1 FROM `shop.raw.image` i WHERE i.sku = p.sku LIMIT 1) AS has_image,
  IF(p.note = 'now()', NULL, p.note)              AS note,
  ARRAY(SELECT DISTINCT t FROM UNNEST(p.tags) AS t ORDER BY t) AS tags
FROM `shop.raw.product` AS p
WHERE p.sku IS NOT NULL
  AND p.retired_on IS NULL;
