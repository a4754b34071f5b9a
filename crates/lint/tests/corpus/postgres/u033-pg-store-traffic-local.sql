-- form: script
-- expect: OM109 warning `seen_at::date`
-- expect: OM109 warning `seen_at::date`
-- expect: OM109 warning `seen_at::date`
-- because: cast of a timestamptz in the zone of the session, the day border moves with it.
-- foot traffic per store and day, sensors write in UTC
create table if not exists retail.foot_traffic_raw (
    ping_id   bigint primary key,
    store_id  int not null,
    seen_at   timestamptz not null,
    direction char(1) not null
);

begin;

delete from retail.foot_traffic_day
where  traffic_day = :'day';

insert into retail.foot_traffic_day (traffic_day, store_id, came_in, went_out)
select seen_at::date as traffic_day,
       store_id,
       count(*) filter (where direction = 'I'),
       count(*) filter (where direction = 'O')
from   retail.foot_traffic_raw
where  seen_at::date = :'day'
group  by seen_at::date, store_id;

commit;
