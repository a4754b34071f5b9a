-- form: script
-- expect: OM101 error `GETDATE()`
BEGIN;
DELETE FROM rpt.login_30d;
INSERT INTO rpt.login_30d (user_id, logins)
SELECT user_id, COUNT(*)
FROM app.logins
WHERE login_ts >= DATEADD(day, -30, TRUNC(GETDATE()))
GROUP BY user_id;
COMMIT;
