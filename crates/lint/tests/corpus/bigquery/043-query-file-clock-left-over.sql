-- form: script
-- expect: OM101 error `CURRENT_DATE()`
WITH trials AS (
  SELECT
    subscription_id,
    country,
    trial_start,
    DATE_ADD(trial_start, INTERVAL 14 DAY) AS trial_end
  FROM
    derived.subscriptions
  WHERE
    submission_date = @submission_date
)
SELECT
  @submission_date AS submission_date,
  country,
  COUNT(*) AS trials,
  COUNTIF(trial_end < CURRENT_DATE()) AS finished
FROM
  trials
GROUP BY
  country
