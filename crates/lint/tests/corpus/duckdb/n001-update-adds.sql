-- form: script
-- expect: OM309 error `visits = visits + d.n`
UPDATE site_stats
SET visits = visits + d.n
FROM (SELECT site, count(*) AS n FROM raw.hit WHERE day = $day GROUP BY site) AS d
WHERE d.site = site_stats.site;
