-- form: script
-- expect: OM304 error `u.user_id IS NULL`
INSERT INTO crm.user_first_seen (user_id, first_seen_on, first_source)
SELECT e.user_id, MIN(e.event_date), MIN(e.traffic_source)
FROM analytics.event AS e
LEFT JOIN crm.user_first_seen AS u ON u.user_id = e.user_id
WHERE u.user_id IS NULL
  AND e.event_date = @run_date
GROUP BY e.user_id;
