-- form: script
-- expect: none
REPLACE INTO `report`.`daily_signup` (`day`, `source`, `signups`)
SELECT `u`.`signup_day`, COALESCE(`u`.`utm_source`, 'direct'), COUNT(*)
FROM `app`.`users` AS `u`
WHERE `u`.`signup_day` = :day
GROUP BY 1, 2;
