-- form: script
-- expect: OM316 error `SYSDATE`
-- expect: OM316 error `SYSDATE`
BEGIN;
UPDATE edw.dim_plan
SET    valid_to = SYSDATE, is_current = FALSE
FROM   stg.plan s
WHERE  edw.dim_plan.plan_code = s.plan_code
AND    edw.dim_plan.is_current
AND    edw.dim_plan.plan_hash <> s.plan_hash;

INSERT INTO edw.dim_plan (plan_code, plan_name, plan_hash, valid_from, valid_to, is_current)
SELECT s.plan_code, s.plan_name, s.plan_hash, SYSDATE, NULL, TRUE
FROM   stg.plan s
LEFT JOIN edw.dim_plan d ON d.plan_code = s.plan_code AND d.is_current
WHERE  d.plan_code IS NULL;
COMMIT;
