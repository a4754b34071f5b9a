-- form: script
-- expect: none
INSERT OVERWRITE TABLE dws.sku_sale_1d PARTITION (dt = '${dt}')
SELECT
  sku.id,
  sku.sku_name,
  sku.category3_id,
  cat.category3_name,
  nvl(od.order_count, 0),
  nvl(od.amount, 0),
  nvl(rf.refund_count, 0)
FROM (
  SELECT id, sku_name, category3_id FROM dim.sku WHERE dt = '${dt}'
) sku
LEFT JOIN (
  SELECT category3_id, category3_name FROM dim.category WHERE dt = '${dt}'
) cat ON cat.category3_id = sku.category3_id
LEFT JOIN (
  SELECT sku_id, count(*) AS order_count, sum(amount) AS amount
  FROM dwd.order_detail
  WHERE dt = '${dt}'
  GROUP BY sku_id
) od ON od.sku_id = sku.id
LEFT JOIN (
  SELECT sku_id, count(*) AS refund_count
  FROM dwd.order_refund
  WHERE dt = '${dt}'
  GROUP BY sku_id
) rf ON rf.sku_id = sku.id;
