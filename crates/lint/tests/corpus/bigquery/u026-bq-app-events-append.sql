-- form: script
-- expect: OM305 error `SELECT IFNULL(MAX(received_at), TIMESTAMP '2022-01-01') FROM `acme-mobile-prod.m …`
-- expect: OM105 error `GENERATE_UUID()`
-- because: window starts where earlier runs of the target ended, late rows are lost and no backfill is possible. the row gets another id each time it is loaded.
/* scheduled query: app_events -> events_clean, every 30 minutes
   project: acme-mobile-prod  */
DECLARE last_seen TIMESTAMP DEFAULT (
  SELECT IFNULL(MAX(received_at), TIMESTAMP '2022-01-01')
  FROM `acme-mobile-prod.mart.events_clean`   -- where we stopped last time
);

INSERT INTO `acme-mobile-prod.mart.events_clean`
  (row_id, event_id, user_id, event_name, received_at, app_version, country)
SELECT
  GENERATE_UUID(),
  e.event_id,
  e.user_id,
  LOWER(e.event_name),
  e.received_at,
  e.device.app_version,
  IFNULL(e.geo.country, 'XX')
FROM `acme-mobile-prod.raw.app_events` AS e
WHERE e.received_at > last_seen
  AND e.user_id IS NOT NULL
  AND e.event_name NOT IN ('heartbeat', 'debug_ping');
