-- form: script
-- expect: OM301 error `INSERT INTO analytics.funnel_day`
-- expect: OM101 error `CURRENT_DATE('Europe/Paris')`
INSERT INTO analytics.funnel_day (day, step, users)
SELECT
  event_date AS day,
  step,
  COUNT(DISTINCT user_pseudo_id)
FROM analytics.events_flat, UNNEST(steps) AS step
WHERE event_date = DATE_SUB(CURRENT_DATE('Europe/Paris'), INTERVAL 1 DAY)
GROUP BY day, step;
