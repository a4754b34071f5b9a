-- form: script
-- expect: OM316 error `now()`
-- expect: OM316 error `now()`
BEGIN;
UPDATE dim.shop d SET valid_to = now() FROM stg.shop s WHERE s.shop_no = d.shop_no AND d.valid_to IS NULL AND s.name <> d.name;
INSERT INTO dim.shop (shop_no, name, valid_from, valid_to)
SELECT s.shop_no, s.name, now(), NULL FROM stg.shop s LEFT JOIN dim.shop d ON d.shop_no = s.shop_no AND d.valid_to IS NULL WHERE d.shop_no IS NULL;
COMMIT;
