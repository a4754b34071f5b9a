-- form: script
-- expect: none
-- because: A static partition is overwritten from the same day's log; the dedup order ends in (file_name, line_no), the primary key of a landed line, and the collected set is sorted before it is stored.
SET hive.exec.compress.output=true;
SET mapreduce.job.reduces=48;

-- ods.access_log_raw: one record per (file_name, line_no)
INSERT OVERWRITE TABLE dwd.access_log PARTITION (dt = '${hiveconf:dt}')
SELECT t.request_id,
       t.user_id,
       t.uri,
       t.status,
       t.cost_ms,
       t.server_ts,
       g.hosts
FROM (
    SELECT request_id,
           user_id,
           parse_url(url, 'PATH') AS uri,
           status,
           cost_ms,
           server_ts,
           ROW_NUMBER() OVER (PARTITION BY dt, request_id
                              ORDER BY server_ts, file_name, line_no) AS rn
    FROM ods.access_log_raw
    WHERE dt = '${hiveconf:dt}'
      AND request_id IS NOT NULL
) t
JOIN (
    SELECT request_id,
           concat_ws(',', sort_array(collect_set(host))) AS hosts
    FROM ods.access_log_raw
    WHERE dt = '${hiveconf:dt}'
      AND request_id IS NOT NULL
    GROUP BY request_id
) g ON g.request_id = t.request_id
WHERE t.rn = 1;
