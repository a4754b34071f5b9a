-- form: script
-- expect: OM102 error `current_date()`
set spark.sql.sources.partitionOverwriteMode=dynamic;
insert overwrite table ads.shop_snapshot partition(dt)
select
    shop_id
    ,shop_name
    ,level
    ,current_date() as dt
from dim.dim_shop;
