-- form: script
-- expect: OM309 error `trips = t.trips + s.trips`
MERGE INTO iceberg.mart.driver_total AS t
USING (
    SELECT driver_id, count(*) AS trips
    FROM hive.core.trip
    WHERE ds = '{{ ds }}'
    GROUP BY driver_id
) AS s
ON t.driver_id = s.driver_id
WHEN MATCHED THEN UPDATE SET trips = t.trips + s.trips
WHEN NOT MATCHED THEN INSERT (driver_id, trips) VALUES (s.driver_id, s.trips);
