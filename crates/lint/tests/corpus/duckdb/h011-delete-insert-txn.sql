-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM mart.grid_load WHERE load_day = $day;
INSERT INTO mart.grid_load BY NAME
SELECT load_day, area, sum(mw) AS mw FROM raw.grid_load WHERE load_day = $day GROUP BY ALL;
COMMIT;
