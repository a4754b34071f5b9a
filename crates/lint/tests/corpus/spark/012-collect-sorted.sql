-- form: script
-- expect: none
CREATE OR REPLACE TABLE gold.journey AS
SELECT visitor_id,
       concat_ws('>', array_sort(collect_set(channel))) AS channels,
       size(collect_list(touch_id)) AS touches,
       max_by(channel, struct(touched_at, touch_id)) AS last_channel
FROM silver.touch
WHERE touched_at >= '${from}' AND touched_at < '${to}'
GROUP BY visitor_id;
