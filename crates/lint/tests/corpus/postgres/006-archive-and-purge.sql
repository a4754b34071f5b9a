-- form: script
-- expect: none
-- because: what is moved is gone from the source in the same statement
WITH moved AS (
  DELETE FROM chat.message
  WHERE sent_at < :cutoff
  RETURNING message_id, room_id, author_id, sent_at, body
)
INSERT INTO chat.message_archive (message_id, room_id, author_id, sent_at, body)
SELECT message_id, room_id, author_id, sent_at, body
FROM moved;
