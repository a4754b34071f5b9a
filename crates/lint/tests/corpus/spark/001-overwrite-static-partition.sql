-- form: script
-- expect: none
INSERT OVERWRITE TABLE dwd.trade_order_detail PARTITION (dt = '${dt}')
SELECT
  od.id,
  od.order_id,
  od.sku_id,
  oi.user_id,
  oi.province_id,
  od.sku_num,
  CAST(od.sku_num * od.order_price AS DECIMAL(16, 2)) AS split_amount
FROM (
  SELECT id, order_id, sku_id, sku_num, order_price
  FROM ods.order_detail WHERE dt = '${dt}'
) od
JOIN (
  SELECT id, user_id, province_id
  FROM ods.order_info WHERE dt = '${dt}'
) oi ON od.order_id = oi.id;
