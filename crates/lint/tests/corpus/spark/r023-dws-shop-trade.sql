-- form: script
-- expect: OM301 error `INSERT INTO TABLE dws.shop_trade_1d`
-- because: when the scheduler retries the day, a second copy of every shop's row is added to the partition
-- dws: trade summary per shop and day
SET hive.exec.dynamic.partition=true;
SET hive.exec.dynamic.partition.mode=nonstrict;

INSERT INTO TABLE dws.shop_trade_1d PARTITION (dt)
SELECT
    o.shop_id
   ,s.shop_name
   ,s.region_code
   ,COUNT(DISTINCT o.order_id)                           AS order_cnt
   ,COUNT(DISTINCT o.buyer_id)                           AS buyer_cnt
   ,SUM(CAST(o.pay_amount AS DECIMAL(18,2)))             AS pay_amount
   ,SUM(IF(o.refund_flag = 1, CAST(o.pay_amount AS DECIMAL(18,2)), 0)) AS refund_amount
   ,o.dt
FROM dwd.trade_order o
LEFT JOIN dim.shop s
       ON s.shop_id = o.shop_id
      AND s.dt      = '${bizdate}'
WHERE o.dt = '${bizdate}'
  AND o.order_status <> 'CLOSED'
GROUP BY o.shop_id, s.shop_name, s.region_code, o.dt;
