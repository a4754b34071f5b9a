-- form: script
-- expect: OM302 error `INSERT IGNORE`
-- because: a product that is already there is skipped, so a corrected name, EAN or pack size in a re-sent feed never lands
-- product master from the supplier feed, parsed rows are in feed_row
INSERT IGNORE INTO dim_product
  (supplier_id, supplier_sku, product_name, ean13, pack_size, vat_rate)
SELECT
  f.supplier_id,
  f.supplier_sku,
  MAX(TRIM(f.product_name)),
  MAX(f.ean13),
  MAX(CAST(f.pack_size AS UNSIGNED)),
  MAX(CAST(f.vat AS DECIMAL(5,2)))
FROM feed_row AS f
WHERE f.feed_id = ?
  AND f.supplier_sku <> ''
GROUP BY f.supplier_id, f.supplier_sku;
