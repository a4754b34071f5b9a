-- form: script
-- expect: none
TRUNCATE TABLE stage.sales_part;
INSERT INTO stage.sales_part (sale_date, shop, amount)
SELECT sale_date, shop, sum(amount) FROM raw.sales WHERE sale_date = {d:Date} GROUP BY sale_date, shop;
ALTER TABLE mart.sales REPLACE PARTITION {d:Date} FROM stage.sales_part;
