-- form: script
-- expect: OM301 warning `INSERT INTO crm.contact_state`
CREATE TABLE IF NOT EXISTS crm.contact_state
(
    contact_id UInt64,
    email String,
    rev UInt32
)
ENGINE = ReplacingMergeTree(rev)
ORDER BY contact_id;

INSERT INTO crm.contact_state (contact_id, email, rev)
SELECT contact_id, max(email), max(rev)
FROM crm.contact_feed
GROUP BY contact_id;
