-- form: script
-- expect: OM111 warning `SELECT MAX(_TABLE_SUFFIX) FROM…`
CREATE OR REPLACE TABLE mart.products AS
SELECT sku, title, price
FROM `acme.export.products_*`
WHERE _TABLE_SUFFIX = (SELECT MAX(_TABLE_SUFFIX) FROM `acme.export.products_*`);
