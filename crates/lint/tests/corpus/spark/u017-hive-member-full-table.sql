-- form: script
-- expect: OM303 error `dwd.dwd_member_full`
-- because: the table is rebuilt from itself plus one day, running the same dt again adds the members a second time.
-- dwd_member_full : add the members registered yesterday to the full table
-- 2020/8/11 created   2021/3/2 add channel
set hive.merge.mapfiles=true;

insert overwrite table dwd.dwd_member_full
select
	member_id
	,mobile_md5
	,reg_time
	,channel
	,city_id
from (
    select member_id, mobile_md5, reg_time, channel, city_id
    from   dwd.dwd_member_full

    union all

    select id as member_id,
           md5(mobile) as mobile_md5,
           reg_time,
           nvl(channel, 'unknown') as channel,
           city_id
    from   ods.ods_member_di
    where  dt = '${yyyymmdd}'
      and  id is not null
) x;
