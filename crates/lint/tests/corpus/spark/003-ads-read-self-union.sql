-- form: script
-- expect: OM303 error `ads.traffic_stats`
-- because: the usual "keep the old rows, add today's": a second run adds today's once more
INSERT OVERWRITE TABLE ads.traffic_stats
SELECT dt, channel, visitors, bounce_rate FROM ads.traffic_stats
UNION ALL
SELECT '${dt}' AS dt, channel, COUNT(DISTINCT mid_id), CAST(SUM(IF(page_count = 1, 1, 0)) / COUNT(*) AS DECIMAL(16, 4))
FROM dws.session
WHERE dt = '${dt}'
GROUP BY channel;
