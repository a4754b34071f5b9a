-- form: script
-- expect: OM204 warning `anyLast(plan)`
CREATE OR REPLACE TABLE crm.account_plan
ENGINE = MergeTree ORDER BY account_id
AS
SELECT account_id, anyLast(plan) AS plan, max(changed_at) AS changed_at
FROM crm.plan_change
GROUP BY account_id;
