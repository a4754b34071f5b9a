-- form: script
-- expect: none
FROM ods.order_delivery
INSERT OVERWRITE TABLE dwd.order_delivery PARTITION (dt = '${dt}')
SELECT order_id, courier_id, delivered_at, fee
WHERE dt = '${dt}';
