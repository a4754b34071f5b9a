-- form: script
-- expect: none
CREATE OR REPLACE TABLE derived.client_first_channel AS
SELECT
  client_id,
  ARRAY_AGG(STRUCT(channel, locale) ORDER BY received_at, document_id LIMIT 1)[OFFSET(0)] AS first_seen,
  COUNT(DISTINCT document_id) AS pings,
  APPROX_COUNT_DISTINCT(session_id) AS sessions
FROM stable.main_ping
GROUP BY client_id;
