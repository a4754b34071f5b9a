-- form: script
-- expect: OM105 error `NEWID()`
DROP TABLE IF EXISTS survey.Invitee;
SELECT TOP (200) CustomerNo, Email
INTO survey.Invitee
FROM crm.Customer
WHERE OptIn = 1
ORDER BY NEWID();
