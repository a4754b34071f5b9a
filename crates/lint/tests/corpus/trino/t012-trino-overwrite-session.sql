-- form: script
-- expect: none
-- hive connector: INSERT replaces the partitions it touches (see session property)
SET SESSION hive.insert_existing_partitions_behavior = 'OVERWRITE';
SET SESSION query_max_run_time = '2h';

INSERT INTO hive.telemetry.engine_hours (asset_id, run_minutes, starts, dt)
WITH on_off AS (
    SELECT asset_id,
           dt,
           minute_of_day,
           max(ignition) AS ignition
    FROM   hive.telemetry.can_minute
    WHERE  dt = '{{ ds }}'
    GROUP  BY asset_id, dt, minute_of_day
)
SELECT asset_id,
       count_if(ignition = 1)                     AS run_minutes,
       count(DISTINCT CASE WHEN ignition = 1 THEN minute_of_day / 60 END) AS starts,
       dt
FROM   on_off
GROUP  BY asset_id, dt;
