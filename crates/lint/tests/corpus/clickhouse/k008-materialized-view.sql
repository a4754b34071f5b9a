-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS agg.clicks_day
(
    day Date,
    ad_id UInt64,
    clicks AggregateFunction(count),
    users AggregateFunction(uniq, UInt64)
)
ENGINE = AggregatingMergeTree ORDER BY (ad_id, day);

CREATE MATERIALIZED VIEW IF NOT EXISTS agg.clicks_day_mv TO agg.clicks_day AS
SELECT toDate(clicked_at, 'UTC') AS day, ad_id, countState() AS clicks, uniqState(user_id) AS users
FROM raw.click
GROUP BY day, ad_id;
