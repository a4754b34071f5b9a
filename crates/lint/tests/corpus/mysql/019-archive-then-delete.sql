-- form: script
-- expect: none
START TRANSACTION;
REPLACE INTO message_archive (message_id, room_id, sent_at, body)
SELECT message_id, room_id, sent_at, body FROM message WHERE sent_at < @cutoff;
DELETE FROM message WHERE sent_at < @cutoff;
COMMIT;
