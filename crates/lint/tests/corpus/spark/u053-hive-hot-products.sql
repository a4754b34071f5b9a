-- form: script
-- expect: OM201 error `row_number() over (partition by category_id order by buys desc, uv desc)`
-- because: products with equal buys and uv change places, and at rank 50 fall in or out.
-- ads_hot_product_top50_di : top products per category for the app home page
-- param: ${hivevar:dt}   (yyyy-MM-dd)
set hive.exec.parallel=true;
set mapreduce.job.queuename=etl;

with pv as (
    select category_id,
           product_id,
           count(distinct user_id) as uv,
           sum(if(action = 'buy', 1, 0)) as buys
    from   dwd.user_action_di
    where  dt = '${hivevar:dt}'
      and  category_id is not null
    group by category_id, product_id
)
insert overwrite table ads.hot_product_top50_di partition (dt = '${hivevar:dt}')
select category_id, product_id, uv, buys, rn
from (
    select category_id, product_id, uv, buys,
           row_number() over (partition by category_id order by buys desc, uv desc) as rn
    from   pv
) t
where rn <= 50;
