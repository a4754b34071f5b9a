-- form: script
-- expect: none
begin;
delete from mart.route_week where week_start = '{{ params.week }}';
insert into mart.route_week (week_start, route_id, trips, on_time)
select date_trunc('week', t.service_date)::date, t.route_id, count(*), sum(case when t.delay_s < 300 then 1 else 0 end)
from raw.trip t
where t.service_date >= '{{ params.week }}'
  and t.service_date < dateadd(day, 7, '{{ params.week }}'::date)
group by 1, 2;
end;
