-- form: script
-- expect: OM303 error `dim.dim_user_zip`
-- because: The second run of a date reads the open rows the first run wrote, so it closes today's rows a day before they start and overwrites yesterday's closed partition with them.
set hive.exec.dynamic.partition=true;
set hive.exec.dynamic.partition.mode=nonstrict;

with old_rows as (
    select user_id, nick, phone, level, start_date, end_date
    from dim.dim_user_zip
    where dt = '9999-12-31'
),
new_rows as (
    select
        user_id, nick, md5(phone) as phone, level,
        '${do_date}'  as start_date,
        '9999-12-31'  as end_date
    from ods.ods_user_inc
    where dt = '${do_date}'
      and rn_in_day = 1          -- one row per user, prepared by the ingest job
)
insert overwrite table dim.dim_user_zip partition (dt)
select
    coalesce(n.user_id, o.user_id),
    coalesce(n.nick, o.nick),
    coalesce(n.phone, o.phone),
    coalesce(n.level, o.level),
    coalesce(n.start_date, o.start_date),
    coalesce(n.end_date, o.end_date),
    '9999-12-31' as dt
from old_rows o
full outer join new_rows n on o.user_id = n.user_id
union all
select
    o.user_id, o.nick, o.phone, o.level, o.start_date,
    date_add('${do_date}', -1) as end_date,
    date_add('${do_date}', -1) as dt
from old_rows o
join new_rows n on o.user_id = n.user_id;
