-- form: script
-- expect: OM309 error `n = r.n + excluded.n`
INSERT INTO web.day_total r (day, n) SELECT day, n FROM web.fresh
ON CONFLICT (day) DO UPDATE SET n = r.n + excluded.n;
