-- form: script
-- expect: OM203 warning `LIMIT 1 BY user_id`
CREATE OR REPLACE TABLE mart.user_last ENGINE = MergeTree ORDER BY user_id AS
SELECT user_id, page, seen_at
FROM raw.seen
ORDER BY user_id, seen_at DESC
LIMIT 1 BY user_id;
