-- form: script
-- expect: OM205 error `collect_set(user_id)`
-- expect: OM205 error `collect_set(version_code)`
insert overwrite table dws.dws_device_day partition(dt='${do_date}')
select
    mid_id,
    concat_ws('|', collect_set(user_id)) user_id,
    concat_ws('|', collect_set(version_code)) version_code
from dwd.dwd_start_log
where dt='${do_date}'
group by mid_id;
