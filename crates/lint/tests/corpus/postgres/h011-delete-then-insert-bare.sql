-- form: script
-- expect: OM310 error `DELETE FROM mart.ga_sessions`
DELETE FROM mart.ga_sessions WHERE session_date BETWEEN '{{ params.from }}' AND '{{ params.to }}';

INSERT INTO mart.ga_sessions (session_date, channel_grouping, sessions)
SELECT session_date, channel_grouping, SUM(sessions)
FROM raw.ga_export
WHERE session_date BETWEEN '{{ params.from }}' AND '{{ params.to }}'
GROUP BY session_date, channel_grouping;
