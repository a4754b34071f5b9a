-- form: script
-- expect: OM106 warning `ROW_NUMBER() OVER (ORDER BY s.name)`
START TRANSACTION;
DELETE FROM dim_shop;
INSERT INTO dim_shop (shop_id, name)
SELECT ROW_NUMBER() OVER (ORDER BY s.name), s.name FROM stg_shop s GROUP BY s.name;
COMMIT;
