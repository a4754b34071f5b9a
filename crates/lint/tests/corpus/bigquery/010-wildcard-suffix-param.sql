-- form: script
-- expect: none
CREATE OR REPLACE TABLE mart.web_hits_latest AS
SELECT
  hit_id,
  PARSE_DATE('%Y%m%d', _TABLE_SUFFIX) AS hit_day,
  page.path AS path
FROM `acme.export.hits_*`
WHERE _TABLE_SUFFIX BETWEEN FORMAT_DATE('%Y%m%d', @start_date) AND FORMAT_DATE('%Y%m%d', @end_date);
