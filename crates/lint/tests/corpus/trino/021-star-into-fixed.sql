-- form: script
-- expect: OM315 warning `SELECT *`
START TRANSACTION;
DELETE FROM iceberg.mart.ride WHERE ds = '{{ ds }}';
INSERT INTO iceberg.mart.ride
SELECT * FROM hive.core.ride WHERE ds = '{{ ds }}';
COMMIT;
