-- form: script
-- expect: none
begin;

create temp table month_in as
select bill_month, customer_no, sum(amount) as amount
from ods.bill_item
where bill_month = '{{ params.bill_month }}'
group by bill_month, customer_no;

delete from dwh.bill where bill_month = '{{ params.bill_month }}';

insert into dwh.bill (bill_month, customer_no, amount)
select bill_month, customer_no, amount from month_in;

drop table month_in;

commit;
