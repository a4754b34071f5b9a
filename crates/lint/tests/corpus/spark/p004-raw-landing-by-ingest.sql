-- form: script
-- expect: none
INSERT OVERWRITE TABLE raw.clickstream PARTITION (ingest_date = '${run_date}')
SELECT payload, topic, kafka_partition, kafka_offset
FROM landing.clickstream
WHERE ingest_date = '${run_date}';
