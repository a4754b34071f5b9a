-- form: script
-- expect: none
UPDATE iceberg.mart.partner
SET status = 'inactive', updated_at = current_timestamp
WHERE partner_id IN (SELECT partner_id FROM hive.core.partner_closure);
