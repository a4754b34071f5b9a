-- form: script
-- expect: OM304 error `NOT EXISTS (SELECT 1 FROM articles a WHERE a.url = f.url)`
INSERT INTO articles (url, title, published)
SELECT f.url, f.title, f.published
FROM raw.feed_items f
WHERE NOT EXISTS (SELECT 1 FROM articles a WHERE a.url = f.url);
