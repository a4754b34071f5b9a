-- form: script
-- expect: none
-- because: With insert_existing_partitions_behavior = OVERWRITE the INSERT replaces partition ds, which is the filter; the anti-join is against another source; HLL is order-free.
-- The Hive connector replaces the partitions it writes to when this is set.
SET SESSION hive.insert_existing_partitions_behavior = 'OVERWRITE';

INSERT INTO hive.mart.ad_delivery_day
  (line_item_id, creative_id, impressions, clicks, reach, ds)
SELECT
  d.line_item_id,
  d.creative_id,
  count_if(d.kind = 'imp')      AS impressions,
  count_if(d.kind = 'click')    AS clicks,
  approx_distinct(d.device_id)  AS reach,
  d.ds
FROM hive.raw.ad_delivery AS d
WHERE d.ds = '${ds}'
  AND NOT EXISTS (
    SELECT 1 FROM hive.raw.invalid_traffic AS i
    WHERE i.ds = '${ds}' AND i.request_id = d.request_id
  )
GROUP BY d.line_item_id, d.creative_id, d.ds;
