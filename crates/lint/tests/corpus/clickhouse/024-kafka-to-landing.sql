-- form: script
-- expect: none
CREATE TABLE IF NOT EXISTS ingest.orders_queue
(
    order_id UInt64,
    placed_at DateTime,
    cents UInt64
)
ENGINE = Kafka
SETTINGS kafka_broker_list = 'broker:9092', kafka_topic_list = 'orders', kafka_group_name = 'ch', kafka_format = 'JSONEachRow';

CREATE MATERIALIZED VIEW IF NOT EXISTS ingest.orders_mv TO ingest.orders AS
SELECT order_id, placed_at, cents FROM ingest.orders_queue;
