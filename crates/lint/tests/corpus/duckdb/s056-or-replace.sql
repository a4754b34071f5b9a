-- form: script
-- expect: none
INSERT OR REPLACE INTO mart.visit BY NAME SELECT day, page, count(*) AS n FROM raw.visit WHERE day = $day GROUP BY ALL;
