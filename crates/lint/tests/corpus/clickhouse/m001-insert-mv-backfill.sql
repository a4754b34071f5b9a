-- form: script
-- expect: OM301 error `INSERT INTO stats.errors_by_hour`
INSERT INTO stats.errors_by_hour
SELECT toStartOfHour(ts, 'UTC') AS hour, service, countState() AS errors
FROM logs.app
WHERE level = 'error' AND ts >= {from:DateTime('UTC')} AND ts < {to:DateTime('UTC')}
GROUP BY hour, service;
