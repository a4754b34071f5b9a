-- form: script
-- expect: OM319 warning `DO UPDATE`
INSERT INTO crm.account (account_no, owner, tier, updated_at)
SELECT account_no, max(owner), max(tier), max(updated_at)
FROM landing.account_change
WHERE updated_at >= %(start)s AND updated_at < %(end)s
GROUP BY account_no
ON CONFLICT (account_no) DO UPDATE
   SET owner = EXCLUDED.owner, tier = EXCLUDED.tier, updated_at = EXCLUDED.updated_at;
