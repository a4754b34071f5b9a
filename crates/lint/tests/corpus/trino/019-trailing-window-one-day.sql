-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM iceberg.mart.active_28d WHERE ds = DATE '{{ ds }}';
INSERT INTO iceberg.mart.active_28d (ds, country, users)
SELECT DATE '{{ ds }}', country, count(DISTINCT user_id)
FROM hive.core.login
WHERE ds > DATE '{{ ds }}' - INTERVAL '28' DAY AND ds <= DATE '{{ ds }}'
GROUP BY country;
COMMIT;
