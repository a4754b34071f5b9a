-- form: script
-- expect: OM306 error `MERGE `analytics.dim_user``
-- expect: OM101 error `CURRENT_DATE('UTC')`
-- because: reads the last two days by the clock, first_seen depends on when the query ran. a user that exists is never corrected, neither first_seen nor country.
-- Scheduled query 06:00 UTC. Registers users seen for the first time.
MERGE `analytics.dim_user` AS d
USING (
  SELECT
    user_id,
    MIN(event_date)  AS first_seen,
    MIN(country)     AS country,
    COUNT(*)         AS n_events
  FROM `analytics.events`
  WHERE event_date >= DATE_SUB(CURRENT_DATE('UTC'), INTERVAL 2 DAY)
    AND user_id IS NOT NULL
  GROUP BY user_id
) AS s
ON d.user_id = s.user_id
WHEN NOT MATCHED THEN
  INSERT (user_id, first_seen, country, n_events_first_day)
  VALUES (s.user_id, s.first_seen, s.country, s.n_events);
