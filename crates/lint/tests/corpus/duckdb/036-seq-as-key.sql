-- form: script
-- expect: OM106 warning `nextval('item_seq')`
CREATE SEQUENCE IF NOT EXISTS item_seq;
BEGIN;
DELETE FROM dim_item;
INSERT INTO dim_item (item_sk, item_code, title)
SELECT nextval('item_seq'), item_code, max(title)
FROM raw.item
GROUP BY item_code;
COMMIT;
