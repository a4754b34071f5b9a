-- form: script
-- expect: OM302 error `INSERT OR IGNORE`
INSERT OR IGNORE INTO members (member_id, name, joined)
SELECT id, full_name, signup_date
FROM staging.signups
WHERE signup_date = $day;
