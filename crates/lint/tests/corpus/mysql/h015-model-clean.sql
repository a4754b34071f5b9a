-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: posted_on
key: [comment_id]
*/
SELECT c.comment_id, c.posted_on, c.author, CHAR_LENGTH(c.body) AS length
FROM raw.comment AS c
WHERE c.posted_on >= :interval_start AND c.posted_on < :interval_end
  AND c.is_spam = 0
