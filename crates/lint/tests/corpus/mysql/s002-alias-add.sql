-- form: script
-- expect: OM309 error `n = web_day.n + f.c`
INSERT INTO web_day (day, n) SELECT day, c FROM fresh AS f WHERE day = '{{ ds }}'
ON DUPLICATE KEY UPDATE n = web_day.n + f.c;
