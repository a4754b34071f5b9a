-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM mart.login_day WHERE login_day = @day;
INSERT INTO mart.login_day (login_day, country, logins)
SELECT DATE(logged_in_at), country, COUNT(*)
FROM raw.logins
WHERE DATE(logged_in_at) = @day
  AND _PARTITIONTIME BETWEEN TIMESTAMP(DATE_SUB(@day, INTERVAL 1 DAY)) AND TIMESTAMP(DATE_ADD(@day, INTERVAL 1 DAY))
GROUP BY DATE(logged_in_at), country;
COMMIT TRANSACTION;
