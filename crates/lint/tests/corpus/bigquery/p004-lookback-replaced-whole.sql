-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM mart.attribution WHERE day BETWEEN DATE_SUB(@run_date, INTERVAL 6 DAY) AND @run_date;
INSERT INTO mart.attribution (day, campaign, conversions)
SELECT day, campaign, COUNT(*)
FROM raw.conversion
WHERE day BETWEEN DATE_SUB(@run_date, INTERVAL 6 DAY) AND @run_date
GROUP BY day, campaign;
COMMIT TRANSACTION;
