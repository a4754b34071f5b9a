-- form: script
-- expect: OM106 warning `dwh.shop_seq.NEXTVAL`
MERGE INTO dwh.dim_shop t USING (SELECT shop_no, MAX(name) AS name FROM raw.shop WHERE shop_no IS NOT NULL GROUP BY shop_no) s ON (t.shop_no = s.shop_no)
WHEN MATCHED THEN UPDATE SET t.name = s.name
WHEN NOT MATCHED THEN INSERT (shop_key, shop_no, name) VALUES (dwh.shop_seq.NEXTVAL, s.shop_no, s.name);
COMMIT;
