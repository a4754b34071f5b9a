-- form: script
-- expect: OM202 error `ROW_NUMBER() OVER (PARTITION BY Email ORDER BY Email)`
-- because: which of the doubles stays is open
;WITH d AS (
    SELECT ContactId, Email, Phone,
           ROW_NUMBER() OVER (PARTITION BY Email ORDER BY Email) AS rn
    FROM crm.Contact
)
DELETE FROM d WHERE rn > 1;
