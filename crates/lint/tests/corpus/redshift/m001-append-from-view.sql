-- form: script
-- expect: OM301 error `insert into {{ params.mart }}.daily_usage`
set query_group to 'etl';
insert into {{ params.mart }}.daily_usage
    (usage_date, account_id, minutes, calls)
select
    trunc(c.started_at) as usage_date,
    c.account_id,
    sum(datediff(second, c.started_at, c.ended_at)) / 60,
    count(*)
from {{ params.raw }}.call c
where c.started_at >= '{{ ds }}' and c.started_at < '{{ next_ds }}'
group by 1, 2;
reset query_group;
