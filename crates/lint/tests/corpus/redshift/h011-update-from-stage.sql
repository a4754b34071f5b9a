-- form: script
-- expect: OM209 warning `stg.price_list p`
BEGIN;
UPDATE dim.product
SET list_price = p.list_price,
    currency   = p.currency
FROM stg.price_list p
WHERE dim.product.sku = p.sku;
COMMIT;
