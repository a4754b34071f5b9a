-- form: script
-- expect: OM301 error `INSERT INTO stats_login_day`
-- expect: OM101 error `CURDATE()`
-- expect: OM101 error `CURDATE()`
INSERT INTO stats_login_day (day, channel, logins, users)
SELECT DATE(logged_in_at), channel, COUNT(*), COUNT(DISTINCT user_id)
FROM login_log
WHERE logged_in_at >= CURDATE() - INTERVAL 1 DAY
  AND logged_in_at < CURDATE()
GROUP BY DATE(logged_in_at), channel;
