-- form: script
-- expect: none
ALTER TABLE crm.lead
    UPDATE email = lower(trim(email)), country = upper(country)
    WHERE email != ''
    SETTINGS mutations_sync = 1;
