-- form: script
-- expect: OM101 error `now()`
CREATE OR REPLACE TABLE mart.session_open ENGINE = MergeTree ORDER BY session_id AS
SELECT session_id, dateDiff('second', started_at, now()) AS age_s
FROM raw.session
WHERE ended_at IS NULL
SETTINGS max_threads = 4;
