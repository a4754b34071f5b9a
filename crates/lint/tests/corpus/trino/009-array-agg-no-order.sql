-- form: script
-- expect: OM205 error `array_agg(tag)`
CREATE OR REPLACE TABLE iceberg.mart.photo_tags AS
SELECT photo_id, array_agg(tag) AS tags
FROM hive.core.photo_tag
GROUP BY photo_id;
