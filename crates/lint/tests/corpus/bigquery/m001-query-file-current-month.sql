-- form: script
-- expect: OM101 error `CURRENT_DATE()`
-- schedule: every day 05:00
CREATE OR REPLACE TABLE `{{ params.project }}.finance.mrr_current` AS
SELECT
  plan_id,
  COUNT(*) AS subscriptions,
  SUM(monthly_price) AS mrr
FROM `{{ params.project }}.billing.subscription`
WHERE started_on <= LAST_DAY(CURRENT_DATE())
  AND (cancelled_on IS NULL OR cancelled_on >= DATE '2100-01-01')
GROUP BY plan_id;
