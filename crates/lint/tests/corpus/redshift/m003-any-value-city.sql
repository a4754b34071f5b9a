-- form: script
-- expect: OM204 warning `any_value(city)`
begin;
drop table if exists bi.store_geo;
create table bi.store_geo diststyle all as
select store_no, any_value(city) as city, count(*) as terminals
from raw.terminal
group by store_no;
commit;
