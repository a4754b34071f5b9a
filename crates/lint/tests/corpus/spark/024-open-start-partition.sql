-- form: script
-- expect: OM401 error `e.ds >= '${ds}'`
INSERT OVERWRITE TABLE mart.login_hour PARTITION (ds = '${ds}')
SELECT date_format(e.event_ts, 'HH') AS hour, e.country, count(*) AS logins
FROM raw.login_event e
WHERE e.ds >= '${ds}'
GROUP BY date_format(e.event_ts, 'HH'), e.country;
