-- form: script
-- expect: OM301 error `INSERT INTO analytics.hits_hourly`
CREATE TABLE IF NOT EXISTS analytics.hits_hourly
(
    hour DateTime('UTC'),
    site_id UInt32,
    hits UInt64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (site_id, hour);

INSERT INTO analytics.hits_hourly
SELECT toStartOfHour(event_time, 'UTC') AS hour, site_id, count() AS hits
FROM analytics.hits
WHERE event_time >= {from:DateTime} AND event_time < {to:DateTime}
GROUP BY hour, site_id;
