-- form: script
-- expect: OM204 error `FIRST(user_agent)`
INSERT OVERWRITE TABLE dws.device_day PARTITION (dt = '${dt}')
SELECT device_id, FIRST(user_agent) AS user_agent, COUNT(*) AS hits
FROM dwd.hit
WHERE dt = '${dt}'
GROUP BY device_id;
