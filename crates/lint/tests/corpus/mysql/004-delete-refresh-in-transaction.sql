-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM report_accounts_daily;
INSERT INTO report_accounts_daily (tenant_id, day, accounts)
SELECT tenant_id, day, COUNT(*) FROM account_creation GROUP BY tenant_id, day;
COMMIT;
