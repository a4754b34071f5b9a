-- form: script
-- expect: OM205 error `string_agg(t.tag, ',')`
CREATE TEMP TABLE tagged AS
SELECT post_id, tag FROM blog.post_tag WHERE NOT hidden;
BEGIN;
TRUNCATE blog.post_search;
INSERT INTO blog.post_search (post_id, title, tags)
SELECT p.post_id, p.title, string_agg(t.tag, ',')
FROM blog.post p
LEFT JOIN tagged t ON t.post_id = p.post_id
GROUP BY p.post_id, p.title;
COMMIT;
