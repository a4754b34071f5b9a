-- form: script
-- expect: OM301 error `INSERT INTO mart.visit`
INSERT INTO mart.visit FROM (FROM raw.visit SELECT day, page, count(*) AS n WHERE day = $day GROUP BY ALL);
