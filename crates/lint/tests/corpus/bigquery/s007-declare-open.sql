-- form: script
-- expect: OM401 error `visit_day >= run_day`
DECLARE run_day DATE DEFAULT @run_date;
BEGIN TRANSACTION;
DELETE FROM mart.visit WHERE visit_day = run_day;
INSERT INTO mart.visit (visit_day, n) SELECT visit_day, COUNT(*) FROM raw.visit WHERE visit_day >= run_day GROUP BY visit_day;
COMMIT TRANSACTION;
