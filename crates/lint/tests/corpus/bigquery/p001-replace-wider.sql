-- form: script
-- expect: OM404 error `day >= DATE_SUB(@run_date, INTERVAL 2 DAY) AND day <= @run_date`
BEGIN TRANSACTION;
DELETE FROM mart.sessions WHERE day >= DATE_SUB(@run_date, INTERVAL 2 DAY) AND day <= @run_date;
INSERT INTO mart.sessions (day, user_id, sessions)
SELECT day, user_id, COUNT(*) FROM raw.session WHERE day = @run_date GROUP BY day, user_id;
COMMIT TRANSACTION;
