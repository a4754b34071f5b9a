-- form: script
-- expect: OM303 error `dim.dim_shop_zip`
-- the history table is written from itself and the day's changes
INSERT OVERWRITE TABLE dim.dim_shop_zip
SELECT h.shop_id, h.shop_name, h.city, h.start_date,
       IF(n.shop_id IS NOT NULL AND h.end_date = '9999-12-31', date_sub('${dt}', 1), h.end_date) AS end_date
FROM dim.dim_shop_zip h
LEFT JOIN (SELECT shop_id FROM ods.shop_inc WHERE dt = '${dt}') n ON n.shop_id = h.shop_id
UNION ALL
SELECT shop_id, shop_name, city, '${dt}' AS start_date, '9999-12-31' AS end_date
FROM ods.shop_inc
WHERE dt = '${dt}';
