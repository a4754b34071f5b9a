-- form: script
-- expect: OM201 warning `lead(stop_name) over (partition by trip_no order by arrives_at)`
begin;
drop table if exists mart.hops;
create table mart.hops as
select trip_no, stop_name, lead(stop_name) over (partition by trip_no order by arrives_at) as next_stop
from raw.stop_time;
commit;
