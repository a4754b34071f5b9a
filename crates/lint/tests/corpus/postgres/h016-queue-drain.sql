-- form: script
-- expect: none
WITH moved AS (
    DELETE FROM ingest.webhook_inbox
    WHERE received_at < %(until)s
    RETURNING delivery_id, received_at, payload
)
INSERT INTO ingest.webhook_archive (delivery_id, received_at, payload)
SELECT delivery_id, received_at, payload FROM moved;
