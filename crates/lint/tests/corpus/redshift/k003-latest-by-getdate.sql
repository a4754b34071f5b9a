-- form: script
-- expect: OM101 error `GETDATE()`
DROP TABLE IF EXISTS mart.active_subscriber;
CREATE TABLE mart.active_subscriber
DISTKEY (account_id) SORTKEY (plan_code)
AS
SELECT s.account_id,
       s.plan_code,
       MIN(s.start_dt) AS since
FROM   crm.subscription s
WHERE  s.end_dt IS NULL
   OR  s.end_dt > DATEADD(day, -30, GETDATE())
GROUP  BY s.account_id, s.plan_code;
