-- form: script
-- expect: none
BEGIN;
CREATE TEMP TABLE in_price (LIKE shop.price INCLUDING DEFAULTS) ON COMMIT DROP;
\copy in_price (sku, currency, amount) FROM PSTDIN WITH (FORMAT csv, HEADER true)

INSERT INTO shop.price AS p (sku, currency, amount)
SELECT i.sku, i.currency, max(i.amount)
FROM in_price i
GROUP BY i.sku, i.currency
ON CONFLICT (sku, currency) DO UPDATE SET amount = EXCLUDED.amount;
COMMIT;
