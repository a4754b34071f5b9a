-- form: script
-- expect: OM309 error `hits = t.hits + s.hits`
MERGE mart.url_total AS t
USING (SELECT url, COUNT(*) AS hits FROM raw.hits WHERE hit_day = @day GROUP BY url) AS s
ON t.url = s.url
WHEN MATCHED THEN UPDATE SET hits = t.hits + s.hits
WHEN NOT MATCHED THEN INSERT (url, hits) VALUES (s.url, s.hits);
