-- form: script
-- expect: OM301 error `INSERT INTO ads.campaign_daily`
-- expect: OM101 error `yesterday()`
-- because: plain MergeTree keeps both copies when the job runs twice. the day is taken from the clock of the server.
-- cron 00:20 clickhouse-client --multiquery < ads_agg.sql
CREATE TABLE IF NOT EXISTS ads.campaign_daily
(
    day         Date,
    campaign_id UInt64,
    placement   LowCardinality(String),
    impressions UInt64,
    clicks      UInt64,
    cost_micros Int64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (day, campaign_id, placement);

INSERT INTO ads.campaign_daily (day, campaign_id, placement, impressions, clicks, cost_micros)
SELECT
    event_date,
    campaign_id,
    placement,
    countIf(type = 'imp'),
    countIf(type = 'click'),
    sum(cost_micros)
FROM ads.events
WHERE event_date = yesterday()
GROUP BY event_date, campaign_id, placement;
