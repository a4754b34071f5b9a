-- form: script
-- expect: OM301 error `insert into table dwd.dwd_log_start_di`
set hive.exec.dynamic.partition.mode=nonstrict;
insert into table dwd.dwd_log_start_di partition(dt='${do_date}')
select
    get_json_object(line, '$.mid'),
    get_json_object(line, '$.uid'),
    get_json_object(line, '$.vn'),
    get_json_object(line, '$.entry')
from ods.ods_start_log
where dt='${do_date}';
