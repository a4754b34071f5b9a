-- form: script
-- expect: none
UPDATE subscription
SET status = CASE WHEN status = 'trial' THEN 'expired' ELSE status END,
    email = LOWER(TRIM(email))
WHERE trial_ends_on < @as_of;
