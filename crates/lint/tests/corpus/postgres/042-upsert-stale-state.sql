-- form: script
-- expect: OM319 warning `DO UPDATE`
INSERT INTO crm.lead_state (lead_id, state, owner, changed_at)
SELECT DISTINCT ON (lead_id) lead_id, state, owner, changed_at
FROM crm_raw.lead_change
WHERE changed_at >= :interval_start AND changed_at < :interval_end
ORDER BY lead_id, changed_at DESC, change_id DESC
ON CONFLICT (lead_id) DO UPDATE
SET state = EXCLUDED.state, owner = EXCLUDED.owner, changed_at = EXCLUDED.changed_at;
