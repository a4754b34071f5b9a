-- form: script
-- expect: OM311 error `TRUNCATE TABLE agg_seller`
START TRANSACTION;
TRUNCATE TABLE agg_seller;
INSERT INTO agg_seller (seller_id, listings, revenue)
SELECT seller_id, COUNT(*), SUM(price)
FROM sale
GROUP BY seller_id;
COMMIT;
