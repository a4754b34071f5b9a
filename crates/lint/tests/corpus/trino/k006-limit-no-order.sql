-- form: script
-- expect: OM206 error `LIMIT 1000`
DROP TABLE IF EXISTS hive.tmp.review_queue;
CREATE TABLE hive.tmp.review_queue AS
SELECT listing_id, seller_id, flagged_reason
FROM hive.dwd.listing
WHERE flagged AND dt = '{{ ds }}'
LIMIT 1000;
