-- form: script
-- expect: OM314 warning `create table work.cohort_base`
-- expect: OM314 warning `create table work.cohort_month`
create table work.cohort_base diststyle all as
select customer_id, min(ordered_on) as first_order
from ods.orders
group by customer_id;

create table work.cohort_month as
select date_trunc('month', first_order) as cohort, count(*) as customers
from work.cohort_base
group by 1;
