-- form: script
-- expect: none
MERGE INTO iceberg.gold.hub_day t
USING (
    SELECT hub, day, count(*) AS parcels
    FROM iceberg.silver.scan
    WHERE day = DATE '{{ ds }}'
    GROUP BY hub, day
) s
ON t.hub = s.hub AND t.day = s.day
WHEN MATCHED THEN UPDATE SET parcels = s.parcels
WHEN NOT MATCHED THEN INSERT (hub, day, parcels) VALUES (s.hub, s.day, s.parcels);
