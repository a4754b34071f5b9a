-- form: script
-- expect: OM106 warning `nextval('mart.shop_key_seq')`
INSERT INTO mart.shop (shop_key, shop_no, name) SELECT nextval('mart.shop_key_seq'), shop_no, name FROM raw.shop WHERE day = :day
ON CONFLICT (shop_no) DO UPDATE SET name = excluded.name;
