-- form: script
-- expect: none
begin;
drop table if exists bi.basket_text;
create table bi.basket_text diststyle all as
select b.basket_id,
       listagg(distinct b.category, '|') within group (order by b.category) as categories,
       sum(b.amount)::decimal(18,2) as amount
from sales.basket_line b
group by b.basket_id;
commit;
