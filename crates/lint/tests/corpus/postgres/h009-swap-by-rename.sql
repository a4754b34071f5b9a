-- form: script
-- expect: none
BEGIN;
DROP TABLE IF EXISTS report.inventory_new;
CREATE TABLE report.inventory_new AS
SELECT w.warehouse_code, p.sku, SUM(m.qty) AS on_hand
FROM wms.movement m
JOIN wms.warehouse w USING (warehouse_id)
JOIN wms.product p USING (product_id)
GROUP BY w.warehouse_code, p.sku;
DROP TABLE IF EXISTS report.inventory;
ALTER TABLE report.inventory_new RENAME TO inventory;
COMMIT;
