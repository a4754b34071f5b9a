-- form: script
-- expect: OM404 error `ping_day >= DATE_SUB(@day, INTERVAL 6 DAY)`
BEGIN TRANSACTION;
DELETE FROM mart.ping_day WHERE ping_day >= DATE_SUB(@day, INTERVAL 6 DAY);
INSERT INTO mart.ping_day (ping_day, os, pings)
SELECT ping_day, os, COUNT(*)
FROM raw.pings
WHERE ping_day = @day
GROUP BY ping_day, os;
COMMIT TRANSACTION;
