-- form: script
-- expect: OM312 error `truncate bi.product_rank`
truncate bi.product_rank;

insert into bi.product_rank (category, product_code, revenue, rnk)
select category, product_code, sum(revenue),
       rank() over (partition by category order by sum(revenue) desc)
from bi.sales
group by category, product_code;
