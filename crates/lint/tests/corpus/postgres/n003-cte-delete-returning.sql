-- form: script
-- expect: none
WITH moved AS (
    DELETE FROM queue.mail WHERE sent_at IS NOT NULL RETURNING mail_id, recipient, sent_at
)
INSERT INTO archive.mail (mail_id, recipient, sent_at)
SELECT mail_id, recipient, sent_at FROM moved;
