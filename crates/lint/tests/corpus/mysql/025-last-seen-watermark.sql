-- form: script
-- expect: OM305 error `SELECT COALESCE(MAX(event_id), 0) FROM event_copy`
INSERT INTO event_copy (event_id, kind, payload, created_at)
SELECT event_id, kind, payload, created_at
FROM source_event
WHERE event_id > (SELECT COALESCE(MAX(event_id), 0) FROM event_copy);
