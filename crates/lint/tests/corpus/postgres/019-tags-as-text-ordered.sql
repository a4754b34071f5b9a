-- form: script
-- expect: none
BEGIN;
TRUNCATE blog.author_topics;
INSERT INTO blog.author_topics (author_id, topics, posts)
SELECT p.author_id,
       string_agg(DISTINCT t.topic, ', ' ORDER BY t.topic),
       array_length(array_agg(DISTINCT p.post_id), 1)
FROM blog.post p
JOIN blog.post_topic t ON t.post_id = p.post_id
GROUP BY p.author_id;
COMMIT;
