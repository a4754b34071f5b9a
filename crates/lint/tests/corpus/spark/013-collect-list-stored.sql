-- form: script
-- expect: OM205 error `collect_list(channel)`
INSERT OVERWRITE TABLE gold.journey_path PARTITION (dt = '${dt}')
SELECT visitor_id, concat_ws('>', collect_list(channel)) AS path
FROM silver.touch
WHERE dt = '${dt}'
GROUP BY visitor_id;
