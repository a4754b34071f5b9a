-- form: script
-- expect: OM105 error `rand()`
-- expect: OM206 error `LIMIT 250000`
-- because: another sample of the negatives in each run. LIMIT without an order takes any rows.
-- ML team: churn training set, about 1 pct of negatives
-- called from the notebook runner, month as yyyy-mm
DROP TABLE IF EXISTS hive.ml.churn_train_v4;

CREATE TABLE hive.ml.churn_train_v4
WITH (format = 'PARQUET')
AS
SELECT u.user_id, u.tenure_months, u.plan, u.n_logins_30d, 1 AS churned
FROM hive.feature.user_monthly u
WHERE u.month = '{{ params.month }}' AND u.churn_next_month
UNION ALL
SELECT * FROM (
    SELECT u.user_id, u.tenure_months, u.plan, u.n_logins_30d, 0 AS churned
    FROM hive.feature.user_monthly u
    WHERE u.month = '{{ params.month }}' AND NOT u.churn_next_month
      AND rand() < 0.01
    LIMIT 250000
);
