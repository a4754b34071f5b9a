-- form: script
-- expect: none
CREATE TEMP TABLE eligible AS
SELECT user_id, MIN(signup_date) AS signup_date
FROM raw.signups
WHERE signup_date >= @from_date AND signup_date < @to_date
GROUP BY user_id;

CREATE OR REPLACE TABLE mart.onboarding
PARTITION BY signup_date
AS
SELECT
  e.signup_date,
  COUNT(*) AS users,
  COUNTIF(EXISTS (SELECT 1 FROM raw.orders o WHERE o.user_id = e.user_id AND o.order_date < @to_date)) AS buyers
FROM eligible e
GROUP BY e.signup_date;
