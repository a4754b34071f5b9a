-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM iceberg.mart.search_day WHERE ds = DATE '{{ ds }}';
INSERT INTO iceberg.mart.search_day (ds, market, searches, approx_users)
SELECT ds, market, count(*), approx_distinct(user_id)
FROM hive.core.search
WHERE ds = DATE '{{ ds }}'
GROUP BY ds, market;
COMMIT;
