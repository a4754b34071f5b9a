-- form: script
-- expect: OM206 error `FETCH FIRST 1000 ROWS ONLY`
CREATE OR REPLACE TABLE iceberg.tmp.review_sample AS
SELECT review_id, body
FROM hive.core.review
WHERE ds = '{{ ds }}'
FETCH FIRST 1000 ROWS ONLY;
