-- form: script
-- expect: OM204 warning `ARRAY_AGG(country IGNORE NULLS)[SAFE_OFFSET(0)]`
CREATE OR REPLACE TABLE derived.client_country AS
SELECT
  client_id,
  ARRAY_AGG(country IGNORE NULLS)[SAFE_OFFSET(0)] AS country,
  COUNT(*) AS pings
FROM stable.main_ping
GROUP BY client_id;
