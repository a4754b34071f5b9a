-- form: script
-- expect: OM301 error `INSERT INTO pg.public.daily`
ATTACH 'dbname=dw' AS pg (TYPE postgres);
INSERT INTO pg.public.daily
SELECT day, sum(x) AS x FROM raw.m WHERE day = getvariable('day') GROUP BY day;
DETACH pg;
