-- form: script
-- expect: OM309 error `views = article_stats.views + EXCLUDED.views`
-- expect: OM309 error `likes = article_stats.likes + EXCLUDED.likes`
INSERT INTO article_stats (article_id, views, likes)
SELECT article_id,
       count(*) FILTER (WHERE kind = 'view'),
       count(*) FILTER (WHERE kind = 'like')
FROM article_event
WHERE happened_at >= :from_ts AND happened_at < :to_ts
GROUP BY article_id
ON CONFLICT (article_id) DO UPDATE
SET views = article_stats.views + EXCLUDED.views,
    likes = article_stats.likes + EXCLUDED.likes;
