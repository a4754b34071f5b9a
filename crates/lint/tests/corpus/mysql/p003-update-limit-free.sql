-- form: script
-- expect: none
UPDATE ticket t
JOIN (SELECT ticket_id, MAX(replied_at) AS last_reply FROM reply GROUP BY ticket_id) r ON r.ticket_id = t.ticket_id
SET t.last_reply = r.last_reply;
