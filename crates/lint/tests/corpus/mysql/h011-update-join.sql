-- form: script
-- expect: OM209 warning `supplier_price_feed AS f`
UPDATE product AS p
INNER JOIN supplier_price_feed AS f ON f.ean = p.ean
SET p.purchase_price = f.price
WHERE f.price > 0;
