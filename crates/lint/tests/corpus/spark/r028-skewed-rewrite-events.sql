-- form: script
-- expect: OM113 error `rand()`
-- because: when a lost executor makes Spark recompute part of the map stage, rand() sends rows elsewhere and some are written twice or not at all
set spark.sql.sources.partitionOverwriteMode=dynamic;
set spark.sql.shuffle.partitions=400;

insert overwrite table lake.events_compact partition (event_date)
select
    e.event_id,
    e.device_id,
    e.event_name,
    e.props,
    e.received_at,
    e.event_date
from lake.events_landing e
left anti join lake.blocked_device b
    on b.device_id = e.device_id
where e.event_date = date '${run_date}'
distribute by e.event_date, floor(rand() * 16);
