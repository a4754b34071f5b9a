-- form: script
-- expect: OM101 error `current_date`
DROP TABLE IF EXISTS hive.tmp.churn_candidate;
CREATE TABLE hive.tmp.churn_candidate WITH (format = 'ORC') AS
SELECT account_id, max(login_day) AS last_login
FROM hive.dwd.login
GROUP BY account_id
HAVING max(login_day) < current_date - INTERVAL '90' DAY;
