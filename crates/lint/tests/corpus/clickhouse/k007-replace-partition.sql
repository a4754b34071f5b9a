-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.sales_tmp AS mart.sales;

INSERT INTO mart.sales_tmp (sale_month, shop_id, amount)
SELECT toYYYYMM(sold_at), shop_id, sum(amount)
FROM raw.sale
WHERE toYYYYMM(sold_at) = {month:UInt32}
GROUP BY 1, 2;

ALTER TABLE mart.sales REPLACE PARTITION {month:UInt32} FROM mart.sales_tmp;
DROP TABLE mart.sales_tmp;
