-- form: script
-- expect: OM301 error `insert into bi.kpi_daily`
-- expect: OM101 error `sysdate`
insert into bi.kpi_daily (kpi_date, country, orders, revenue)
select trunc(o.ordered_at) as kpi_date,
       c.country,
       count(distinct o.order_id),
       sum(o.net_amount)
from ods.orders o
join ods.customers c on c.customer_id = o.customer_id
where trunc(o.ordered_at) = trunc(sysdate) - 1
group by 1, 2;
