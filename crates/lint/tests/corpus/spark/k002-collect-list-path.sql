-- form: script
-- expect: OM205 error `collect_list(page_id)`
INSERT OVERWRITE TABLE dws.session_path PARTITION (dt = '${hiveconf:dt}')
SELECT session_id,
       concat_ws('>', collect_list(page_id)) AS path,
       count(*)                              AS steps
FROM dwd.page_view
WHERE dt = '${hiveconf:dt}'
GROUP BY session_id;
