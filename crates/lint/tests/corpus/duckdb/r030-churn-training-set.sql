-- form: script
-- expect: OM107 error `USING SAMPLE 10 PERCENT (bernoulli)`
-- because: building the set again for the same cut-off draws other accounts, so a model cannot be reproduced
CREATE OR REPLACE TABLE features.churn_training AS
WITH labelled AS (
    SELECT
        a.account_id,
        a.signed_up_on,
        a.plan,
        a.churned_on IS NOT NULL
            AND a.churned_on < CAST(:cutoff AS DATE) + INTERVAL 90 DAY AS churned
    FROM core.account AS a
    WHERE a.signed_up_on < CAST(:cutoff AS DATE)
),
usage AS (
    SELECT
        u.account_id,
        count(*)                       AS calls_90d,
        count(DISTINCT u.feature)      AS features_90d,
        max(u.used_on)                 AS last_used_on
    FROM core.usage_day AS u
    WHERE u.used_on >= CAST(:cutoff AS DATE) - INTERVAL 90 DAY
      AND u.used_on <  CAST(:cutoff AS DATE)
    GROUP BY u.account_id
)
SELECT
    l.account_id,
    l.plan,
    date_diff('day', l.signed_up_on, CAST(:cutoff AS DATE)) AS age_days,
    coalesce(u.calls_90d, 0)    AS calls_90d,
    coalesce(u.features_90d, 0) AS features_90d,
    u.last_used_on,
    l.churned
FROM labelled AS l
LEFT JOIN usage AS u USING (account_id)
USING SAMPLE 10 PERCENT (bernoulli);
