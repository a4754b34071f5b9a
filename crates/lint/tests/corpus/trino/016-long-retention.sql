-- form: script
-- expect: none
DROP TABLE IF EXISTS iceberg.mart.retention_week;
CREATE TABLE iceberg.mart.retention_week AS
WITH first_week AS (
    SELECT user_id, min(date_trunc('week', event_date)) AS cohort
    FROM hive.core.event
    WHERE event_date >= DATE '{{ start }}' AND event_date < DATE '{{ end }}'
    GROUP BY user_id
),
active AS (
    SELECT DISTINCT user_id, date_trunc('week', event_date) AS week
    FROM hive.core.event
    WHERE event_date >= DATE '{{ start }}' AND event_date < DATE '{{ end }}'
)
SELECT
    f.cohort,
    date_diff('week', f.cohort, a.week) AS week_no,
    count(DISTINCT a.user_id) AS users
FROM first_week f
JOIN active a ON a.user_id = f.user_id
GROUP BY f.cohort, date_diff('week', f.cohort, a.week);
