-- form: script
-- expect: none
-- because: INSERT OVERWRITE of the one static partition that is also the filter; the dedup order ends in the binlog position, which together with id and update_time is the key.
set hive.exec.dynamic.partition.mode=nonstrict;
set hive.vectorized.execution.enabled=true;
set mapreduce.job.queuename=etl;

-- ods_order_info has PRIMARY KEY (id, update_time, binlog_pos) in the change log
insert overwrite table dwd.dwd_order_info_di partition (dt = '${hiveconf:dt}')
select
    id,
    user_id,
    order_status,
    payment_way,
    cast(total_amount as decimal(16, 2))     as total_amount,
    create_time,
    update_time,
    date_format(create_time, 'HH')           as create_hour
from (
    select
        o.*,
        row_number() over (partition by o.id order by o.update_time desc, o.binlog_pos desc) as rk
    from ods.ods_order_info o
    where o.dt = '${hiveconf:dt}'
      and o.op_type <> 'D'
) t
where t.rk = 1
  and t.user_id is not null
;
