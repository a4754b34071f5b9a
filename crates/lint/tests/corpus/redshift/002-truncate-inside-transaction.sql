-- form: script
-- expect: OM311 error `TRUNCATE TABLE mart.supplier_scorecard`
BEGIN;
TRUNCATE TABLE mart.supplier_scorecard;
INSERT INTO mart.supplier_scorecard (supplier_id, orders, late_orders)
SELECT supplier_id,
       COUNT(*),
       SUM(CASE WHEN delivered_on > promised_on THEN 1 ELSE 0 END)
FROM ods.purchase_order
GROUP BY supplier_id;
COMMIT;
