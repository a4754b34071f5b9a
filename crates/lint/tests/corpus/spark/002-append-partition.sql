-- form: script
-- expect: OM301 error `INSERT INTO TABLE ads.user_retention`
INSERT INTO TABLE ads.user_retention PARTITION (dt = '${hiveconf:dt}')
SELECT register_date, retention_days, COUNT(DISTINCT user_id) AS users
FROM dws.user_login
WHERE dt = '${hiveconf:dt}'
GROUP BY register_date, retention_days;
