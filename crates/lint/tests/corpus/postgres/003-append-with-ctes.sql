-- form: script
-- expect: OM301 error `INSERT INTO reporting.subscription_mrr`
WITH active AS (
  SELECT s.subscription_id, s.account_id, s.plan_code
  FROM billing.subscription s
  WHERE s.started_on <= :month_end
    AND (s.ended_on IS NULL OR s.ended_on > :month_end)
),
priced AS (
  SELECT a.account_id, p.monthly_cents
  FROM active a
  JOIN billing.plan p ON p.plan_code = a.plan_code
)
INSERT INTO reporting.subscription_mrr (month_end, account_id, mrr_cents)
SELECT :month_end, account_id, sum(monthly_cents)
FROM priced
GROUP BY account_id;
