-- form: script
-- expect: none
-- denormalised counters on the forum thread; full recount of threads touched on a day
-- (the old version did replies = replies + 1, that drifted)
UPDATE forum.thread t
JOIN (
    SELECT p.thread_id,
           COUNT(*)          AS replies,
           MAX(p.created_at) AS last_post_at,
           SUM(p.is_flagged) AS flagged
    FROM   forum.post p
    WHERE  p.deleted = 0
      AND  p.thread_id IN (SELECT x.thread_id
                           FROM   forum.post_change x
                           WHERE  x.change_day = '{{ ds }}')
    GROUP  BY p.thread_id
) c ON c.thread_id = t.thread_id
SET t.replies      = c.replies,
    t.last_post_at = c.last_post_at,
    t.flagged      = c.flagged;
