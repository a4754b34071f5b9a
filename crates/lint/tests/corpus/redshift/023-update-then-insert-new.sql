-- form: script
-- expect: none
-- because: update what is there, insert what is not: together a keyed write
BEGIN;
CREATE TEMP TABLE up AS
SELECT plan_id, MAX(plan_name) AS plan_name, MAX(monthly_fee) AS monthly_fee
FROM stg.plan
GROUP BY plan_id;

UPDATE core.plan
SET plan_name = up.plan_name, monthly_fee = up.monthly_fee
FROM up
WHERE core.plan.plan_id = up.plan_id;

INSERT INTO core.plan (plan_id, plan_name, monthly_fee)
SELECT up.plan_id, up.plan_name, up.monthly_fee
FROM up
LEFT JOIN core.plan p ON p.plan_id = up.plan_id
WHERE p.plan_id IS NULL;
COMMIT;
