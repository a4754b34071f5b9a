-- form: script
-- expect: OM302 error `INSERT IGNORE`
INSERT IGNORE INTO phones (user_id, phone, verified)
SELECT u.id, u.phone_number, u.phone_verified
FROM legacy.users u
WHERE u.phone_number <> '';
