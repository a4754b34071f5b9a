-- form: script
-- expect: none
INSERT INTO crm.account_state (account_id, state, changed_at)
SELECT DISTINCT ON (account_id) account_id, state, changed_at
FROM crm_raw.account_change
WHERE changed_at >= :interval_start AND changed_at < :interval_end
ORDER BY account_id, changed_at DESC, state
ON CONFLICT (account_id) DO UPDATE
SET state = EXCLUDED.state, changed_at = EXCLUDED.changed_at
WHERE EXCLUDED.changed_at >= crm.account_state.changed_at;
