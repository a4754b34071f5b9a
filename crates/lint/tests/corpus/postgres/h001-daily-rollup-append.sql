-- form: script
-- expect: OM301 error `INSERT INTO analytics.daily_active`
/*
 * etl/daily_active.sql
 * run by cron, {{ ds }} = logical date
 */
INSERT INTO analytics.daily_active (activity_date, plan_code, n_users)
SELECT
      e.activity_date
    , COALESCE(a.plan_code, 'free')
    , COUNT(DISTINCT e.user_id)
FROM public.events e
    LEFT JOIN public.accounts a ON a.account_id = e.account_id
WHERE e.activity_date = '{{ ds }}'::date
GROUP BY 1, 2;
