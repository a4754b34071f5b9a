-- form: script
-- expect: none
-- because: the session tells the connector to overwrite the partitions it writes
SET SESSION hive.insert_existing_partitions_behavior = 'OVERWRITE';
INSERT INTO hive.mart.meter_day (meter_id, kwh, ds)
SELECT meter_id, sum(kwh), ds
FROM hive.core.meter_read
WHERE ds = '{{ ds }}'
GROUP BY meter_id, ds;
