-- form: script
-- expect: OM113 error `rand()`
INSERT OVERWRITE TABLE dm.dm_goods_detail PARTITION (dt='${bizdate}')
SELECT goods_id, goods_name, price
FROM dwd.dwd_goods
WHERE dt='${bizdate}'
DISTRIBUTE BY cast(rand() * 20 as int);
