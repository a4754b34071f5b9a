-- form: script
-- expect: none
-- dwd_call_detail_di : 通话明细 日分区
set hive.exec.dynamic.partition.mode=nonstrict;
set mapreduce.job.queuename=etl;

INSERT OVERWRITE TABLE dwd.dwd_call_detail_di PARTITION (dt='${hiveconf:dt}')
SELECT
    t.call_id
    ,t.caller
    ,t.callee
    ,t.duration_s
    ,nvl(c.cell_name,'未知')          as cell_name
    ,unix_timestamp(t.start_time,'yyyy-MM-dd HH:mm:ss') as start_unix
    ,current_timestamp()              as etl_time   -- 审计
FROM (
    SELECT call_id, caller, callee, duration_s, start_time, cell_id
    FROM   ods.ods_call_di
    WHERE  dt='${hiveconf:dt}'
    GROUP BY call_id, caller, callee, duration_s, start_time, cell_id   -- 去重
) t
LEFT JOIN (
    SELECT cell_id, max(cell_name) as cell_name
    FROM dim.dim_cell_df
    WHERE dt='${hiveconf:dt}'
    GROUP BY cell_id
) c ON t.cell_id=c.cell_id
;
