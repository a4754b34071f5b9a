-- form: script
-- expect: OM301 error `INSERT INTO stats.requests_daily`
INSERT INTO stats.requests_daily (day, host, requests, bytes)
SELECT
    event_date AS day,
    host,
    count() AS requests,
    sum(bytes_sent) AS bytes
FROM logs.nginx_access
WHERE event_date = {day:Date}
GROUP BY day, host
SETTINGS max_threads = 8;
