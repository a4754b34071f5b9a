-- form: script
-- expect: none
SET SESSION hive.insert_existing_partitions_behavior = 'OVERWRITE';
INSERT INTO hive.mart.api_day
SELECT endpoint, count(*) AS calls, approx_percentile(latency_ms, 0.95) AS p95, ds
FROM hive.raw.api_log
WHERE ds = '{{ ds }}'
GROUP BY endpoint, ds;
