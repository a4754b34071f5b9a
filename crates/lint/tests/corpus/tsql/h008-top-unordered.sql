-- form: script
-- expect: OM206 error `TOP (1)`
SET XACT_ABORT ON;
BEGIN TRANSACTION;
DELETE FROM dwh.CustomerPhone;
INSERT INTO dwh.CustomerPhone (CustomerNo, Phone)
SELECT c.CustomerNo, (SELECT TOP (1) p.Phone FROM crm.Phone p WHERE p.CustomerNo = c.CustomerNo)
FROM crm.Customer c;
COMMIT;
