-- form: script
-- expect: none
;WITH d AS (
    SELECT ContactId, Email,
           ROW_NUMBER() OVER (PARTITION BY Email ORDER BY UpdatedAt DESC, ContactId DESC) AS rn
    FROM crm.ContactCopy
)
DELETE FROM d WHERE rn > 1;
