-- form: script
-- expect: OM405 error `e.send_date BETWEEN DATEADD(day, -3, '{{ ds }}'::date) AND '{{ ds }}'::date`
-- because: one day is deleted but four are inserted, the older days double with every run.
/* email_stats.sql  -  opens and clicks trickle in for days, so look back three days
   run by: airflow dag email_stats (RedshiftSQLOperator, autocommit=False) */
BEGIN;

DELETE FROM marketing.email_stats
WHERE send_date = '{{ ds }}';

INSERT INTO marketing.email_stats (send_date, campaign_id, sent, opened, clicked, unsubscribed)
SELECT e.send_date
,      e.campaign_id
,      SUM(CASE WHEN e.kind = 'sent'  THEN 1 ELSE 0 END)
,      COUNT(DISTINCT CASE WHEN e.kind = 'open'  THEN e.recipient_id END)
,      COUNT(DISTINCT CASE WHEN e.kind = 'click' THEN e.recipient_id END)
,      SUM(CASE WHEN e.kind = 'unsub' THEN 1 ELSE 0 END)
FROM raw.email_event e
WHERE e.send_date BETWEEN DATEADD(day, -3, '{{ ds }}'::date) AND '{{ ds }}'::date
GROUP BY 1, 2;

COMMIT;
