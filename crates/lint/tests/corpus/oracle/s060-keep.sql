-- form: script
-- expect: none
DELETE FROM dwh.last_price WHERE day = TO_DATE(:day, 'YYYY-MM-DD');
INSERT INTO dwh.last_price (day, sku, price)
SELECT p.day, p.sku, MAX(p.price) KEEP (DENSE_RANK LAST ORDER BY p.set_at, p.price) FROM raw.price p WHERE p.day = TO_DATE(:day, 'YYYY-MM-DD') GROUP BY p.day, p.sku;
COMMIT;
