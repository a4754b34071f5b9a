-- form: script
-- expect: OM301 error `INSERT INTO TABLE mart.sale`
INSERT INTO TABLE mart.sale PARTITION (dt = '${dt}')
SELECT shop_id, SUM(amount) FROM raw.sale WHERE dt = '${dt}' GROUP BY shop_id;
