-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS events.local ON CLUSTER main
(
    event_id UUID,
    kind LowCardinality(String),
    at DateTime64(3, 'UTC'),
    version UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/events', '{replica}', version)
PARTITION BY toYYYYMM(at)
ORDER BY event_id;

CREATE TABLE IF NOT EXISTS events.all ON CLUSTER main AS events.local
ENGINE = Distributed(main, events, local, cityHash64(event_id));
