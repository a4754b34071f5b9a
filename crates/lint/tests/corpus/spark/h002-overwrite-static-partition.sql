-- form: script
-- expect: none
insert overwrite table dws.dws_uv_detail_day partition(dt='${do_date}')
select
    mid_id,
    max(version_name),
    max(lang),
    count(*) login_count
from dwd.dwd_start_log
where dt='${do_date}'
group by mid_id;
