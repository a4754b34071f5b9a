-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS stats.hits_by_hour
(
    hour DateTime('UTC'),
    site LowCardinality(String),
    hits UInt64
)
ENGINE = SummingMergeTree
ORDER BY (site, hour);

CREATE MATERIALIZED VIEW IF NOT EXISTS stats.hits_by_hour_mv TO stats.hits_by_hour AS
SELECT toStartOfHour(seen_at, 'UTC') AS hour, site, count() AS hits
FROM raw.hits
GROUP BY hour, site;
