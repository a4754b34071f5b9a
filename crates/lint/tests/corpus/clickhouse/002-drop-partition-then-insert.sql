-- form: script
-- expect: OM310 error `ALTER TABLE metrics.sessions_day DROP PARTITION '{{ ds }}'`
ALTER TABLE metrics.sessions_day DROP PARTITION '{{ ds }}';
INSERT INTO metrics.sessions_day (day, site, sessions)
SELECT day, site, uniqExact(session_id)
FROM metrics.hits
WHERE day = '{{ ds }}'
GROUP BY day, site;
