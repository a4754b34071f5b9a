-- form: script
-- expect: OM408 warning `sale_month = '2024-05-01'`
-- expect: OM408 warning `sale_month = '2024-05-01'`
BEGIN;
DELETE FROM mart.sales_month WHERE sale_month = '2024-05-01';
INSERT INTO mart.sales_month (sale_month, store_id, amount)
SELECT sale_month, store_id, SUM(amount)
FROM ods.sales
WHERE sale_month = '2024-05-01'
GROUP BY sale_month, store_id;
COMMIT;
