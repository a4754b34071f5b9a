-- form: script
-- expect: OM301 error `INSERT INTO…`
-- expect: OM101 error `CURRENT_DATE("Europe/Paris")`
INSERT INTO `proj.reporting.funnel` (event_day, step, users)
SELECT event_day, step, COUNT(DISTINCT user_pseudo_id)
FROM `proj.analytics.steps`
WHERE event_day = DATE_SUB(CURRENT_DATE("Europe/Paris"), INTERVAL 1 DAY)
GROUP BY event_day, step;
