-- form: script
-- expect: OM301 error `INSERT INTO metrics.requests_1h`
INSERT INTO metrics.requests_1h (hour, host, requests, p99)
SELECT
    toStartOfHour(ts) AS hour,
    host,
    count() AS requests,
    max(latency_ms) AS p99
FROM metrics.requests
WHERE ts >= {from:DateTime} AND ts < {to:DateTime}
GROUP BY hour, host;
