-- form: script
-- expect: none
MERGE INTO iceberg.mart.fare_day AS t
USING (
    SELECT fare_day, route_id, min(fare) AS fare
    FROM hive.core.fare
    WHERE fare_day >= DATE '{{ start }}' AND fare_day < DATE '{{ end }}'
    GROUP BY fare_day, route_id
) AS s
ON t.fare_day = s.fare_day AND t.route_id = s.route_id
WHEN MATCHED THEN UPDATE SET fare = s.fare
WHEN NOT MATCHED THEN INSERT (fare_day, route_id, fare) VALUES (s.fare_day, s.route_id, s.fare);
