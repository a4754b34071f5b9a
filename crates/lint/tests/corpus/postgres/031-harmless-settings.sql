-- form: script
-- expect: none
SET statement_timeout = '15min';
SET work_mem = '512MB';
BEGIN;
DELETE FROM mart.ferry_day WHERE day = :day;
INSERT INTO mart.ferry_day (day, line, passengers)
SELECT sailed_on, line, sum(passengers) FROM ods.sailing WHERE sailed_on = :day GROUP BY sailed_on, line;
COMMIT;
