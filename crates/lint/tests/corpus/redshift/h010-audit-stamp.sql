-- form: script
-- expect: none
BEGIN;
DELETE FROM rpt.vendor;
INSERT INTO rpt.vendor (vendor_no, vendor_name, etl_loaded_at)
SELECT vendor_no, MAX(vendor_name), GETDATE()
FROM ods.vendor
GROUP BY vendor_no;
COMMIT;
