-- form: script
-- expect: OM108 warning `SET TIME ZONE 'America/Bogota'`
SET TIME ZONE 'America/Bogota';
BEGIN;
DELETE FROM mart.toll_day WHERE day = :day;
INSERT INTO mart.toll_day (day, plaza, vehicles)
SELECT passed_on, plaza, count(*) FROM ods.toll_pass WHERE passed_on = :day GROUP BY passed_on, plaza;
COMMIT;
