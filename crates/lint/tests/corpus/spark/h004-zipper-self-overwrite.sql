-- form: script
-- expect: OM303 error `dwd.dwd_order_info_his`
insert overwrite table dwd.dwd_order_info_his
select id, order_status, total_amount, start_date, end_date
from (
    select id, order_status, total_amount, '${do_date}' start_date, '9999-99-99' end_date
    from ods.ods_order_info_batch
    union all
    select his.id, his.order_status, his.total_amount, his.start_date,
           if(upd.id is not null and his.end_date = '9999-99-99', date_add('${do_date}', -1), his.end_date) end_date
    from dwd.dwd_order_info_his his
    left join ods.ods_order_info_batch upd on his.id = upd.id
) t;
