-- form: script
-- expect: none
DELETE s FROM session_log s
JOIN tenant t ON t.tenant_id = s.tenant_id
WHERE s.started_at < @keep_from
  AND t.keeps_sessions = 0;
