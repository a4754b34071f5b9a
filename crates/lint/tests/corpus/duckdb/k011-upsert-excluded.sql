-- form: script
-- expect: none
INSERT INTO dim.product (sku, title, price)
SELECT sku, max(title), max(price)
FROM stg.product
GROUP BY sku
ON CONFLICT (sku) DO UPDATE SET title = excluded.title, price = excluded.price;
