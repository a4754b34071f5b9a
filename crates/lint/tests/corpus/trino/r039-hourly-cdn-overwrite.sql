-- form: script
-- expect: none
-- because: With insert_existing_partitions_behavior=OVERWRITE the Hive connector replaces the (ds, hour) partitions that the query writes, and the source is exactly that hour; approx_distinct is an order-free HLL.
-- hive connector: INSERT replaces the partitions it writes to
SET SESSION hive.insert_existing_partitions_behavior = 'OVERWRITE';

INSERT INTO hive.cdn.edge_traffic_hourly
    (pop, content_type, requests, bytes_out, clients, cache_hits, ds, hour)
SELECT
    pop,
    content_type,
    count(*)                                             AS requests,
    sum(bytes_sent)                                      AS bytes_out,
    approx_distinct(client_hash)                         AS clients,
    count_if(cache_status IN ('HIT', 'REVALIDATED'))     AS cache_hits,
    ds,
    hour
FROM hive.cdn.edge_log
WHERE ds = '{{ ds }}'
  AND hour = '{{ data_interval_start.strftime("%H") }}'
GROUP BY pop, content_type, ds, hour;
