-- form: script
-- expect: OM105 error `random()`
CREATE OR REPLACE TABLE iceberg.mart.ab_bucket AS
SELECT user_id, CASE WHEN random() < 0.5 THEN 'a' ELSE 'b' END AS bucket
FROM hive.core.user;
