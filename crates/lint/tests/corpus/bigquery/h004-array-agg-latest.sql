-- form: script
-- expect: OM204 warning `ARRAY_AGG(plan ORDER BY changed_at DESC LIMIT 1)[OFFSET(0)]`
CREATE OR REPLACE TABLE crm.account_plan AS
SELECT
  account_id,
  ARRAY_AGG(plan ORDER BY changed_at DESC LIMIT 1)[OFFSET(0)] AS plan,
  MIN(changed_at) AS customer_since
FROM raw.plan_change
GROUP BY account_id;
