-- form: script
-- expect: none
begin;
delete from mart.brand_month_rank where sales_month = :month;
insert into mart.brand_month_rank (sales_month, brand, units, position)
select sales_month, brand, units,
       dense_rank() over (partition by sales_month order by units desc)
from (
    select sales_month, brand, sum(units) as units
    from sales.sku_month
    where sales_month = :month
    group by sales_month, brand
);
commit;
