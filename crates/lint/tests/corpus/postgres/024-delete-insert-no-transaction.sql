-- form: script
-- expect: OM310 error `delete from mart.f_sales`
delete from mart.f_sales
where date_id in (select d.date_id from mart.d_calendar d where d.date_actual = '{{ ds }}');

insert into mart.f_sales (date_id, item_id, customer_id, quantity, payment_amount)
select dc.date_id, o.item_id, o.customer_id, o.quantity, o.payment_amount
from staging.order_log o
join mart.d_calendar dc on dc.date_actual = o.ordered_on
where o.ordered_on = '{{ ds }}';
