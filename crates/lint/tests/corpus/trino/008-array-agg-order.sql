-- form: script
-- expect: none
CREATE OR REPLACE TABLE iceberg.mart.trip_path AS
SELECT trip_id,
       array_join(array_agg(stop_code ORDER BY stop_no, stop_code), '-') AS path,
       cardinality(array_agg(stop_code)) AS stops,
       listagg(operator, ',') WITHIN GROUP (ORDER BY operator) AS operators
FROM hive.core.trip_stop
GROUP BY trip_id;
