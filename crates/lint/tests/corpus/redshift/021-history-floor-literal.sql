-- form: script
-- expect: none
-- because: a floor of the history, older than anything that is loaded
BEGIN;
DELETE FROM mart.sales_month WHERE sale_month = :month;
INSERT INTO mart.sales_month (sale_month, store_id, amount)
SELECT sale_month, store_id, SUM(amount)
FROM ods.sales
WHERE sale_month = :month
  AND opened_on >= '1990-01-01'
GROUP BY sale_month, store_id;
COMMIT;
