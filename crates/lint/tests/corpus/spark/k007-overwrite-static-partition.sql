-- form: script
-- expect: none
SET hive.exec.compress.output=true;
USE ads;

INSERT OVERWRITE TABLE ads_category_gmv PARTITION (dt = '${bizdate}')
SELECT c.category_name,
       sum(o.pay_amount)         AS gmv,
       count(DISTINCT o.user_id) AS buyers
FROM dwd.order_pay o
JOIN dim.category c ON c.dt = '${bizdate}' AND c.category_id = o.category_id
WHERE o.dt = '${bizdate}'
GROUP BY c.category_name;
