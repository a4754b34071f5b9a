-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: event_day
key: [event_day, country]
*/
SELECT e.event_day, coalesce(g.country, 'unknown') AS country, count(*) AS events,
       sort_array(collect_set(e.platform)) AS platforms
FROM raw.event AS e
LEFT JOIN ref.geo AS g ON g.ip_block = e.ip_block
WHERE e.event_day >= :interval_start AND e.event_day < :interval_end
GROUP BY e.event_day, coalesce(g.country, 'unknown')
