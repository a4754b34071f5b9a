-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM iceberg.mart.host_snapshot WHERE snapshot_date = DATE '{{ ds }}';
INSERT INTO iceberg.mart.host_snapshot (snapshot_date, host_id, listings, rating)
SELECT DATE '{{ ds }}', host_id, count(*), max(rating)
FROM hive.core.listing_snapshot
WHERE snapshot_date = DATE '{{ ds }}'
GROUP BY host_id;
COMMIT;
