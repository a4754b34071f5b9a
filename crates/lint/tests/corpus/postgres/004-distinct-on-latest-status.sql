-- form: script
-- expect: OM203 warning `DISTINCT ON (shipment_id)`
-- because: two scans of one second are in the same place of the order
BEGIN;
TRUNCATE logistics.shipment_status;
INSERT INTO logistics.shipment_status (shipment_id, status, depot, scanned_at)
SELECT DISTINCT ON (shipment_id) shipment_id, status, depot, scanned_at
FROM logistics.scan
ORDER BY shipment_id, scanned_at DESC;
COMMIT;
