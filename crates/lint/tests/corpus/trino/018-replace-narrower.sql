-- form: script
-- expect: OM405 error `ds >= DATE '{{ ds }}' - INTERVAL '2' DAY AND ds <= DATE '{{ ds }}'`
-- because: one day is deleted, three are inserted
START TRANSACTION;
DELETE FROM iceberg.mart.late_scan WHERE ds = DATE '{{ ds }}';
INSERT INTO iceberg.mart.late_scan (ds, depot, scans)
SELECT ds, depot, count(*)
FROM hive.core.scan
WHERE ds >= DATE '{{ ds }}' - INTERVAL '2' DAY AND ds <= DATE '{{ ds }}'
GROUP BY ds, depot;
COMMIT;
