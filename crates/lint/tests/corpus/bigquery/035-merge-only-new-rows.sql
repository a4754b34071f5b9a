-- form: script
-- expect: OM306 error `MERGE mart.podcast_episode`
MERGE mart.podcast_episode AS t
USING (
  SELECT episode_guid, MAX(title) AS title, MAX(duration_s) AS duration_s, MIN(published_at) AS published_at
  FROM raw.feed_items
  GROUP BY episode_guid
) AS s
ON t.episode_guid = s.episode_guid
WHEN NOT MATCHED THEN
  INSERT (episode_guid, title, duration_s, published_at)
  VALUES (episode_guid, title, duration_s, published_at);
