-- form: script
-- expect: OM314 warning `CREATE TABLE analytics.cohort_2`
CREATE TABLE analytics.cohort_2
DISTKEY (user_id)
SORTKEY (cohort_month)
AS
SELECT user_id, date_trunc('month', min(ordered_at)) AS cohort_month
FROM sales.orders
GROUP BY user_id;
