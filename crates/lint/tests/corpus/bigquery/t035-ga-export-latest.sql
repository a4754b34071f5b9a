-- form: script
-- expect: OM111 warning `SELECT MAX(_TABLE_SUFFIX) FROM `web-dw.export.pageviews_*``
-- expect: OM112 warning `ML.GENERATE_TEXT( MODEL `web-dw.search.labeller`, ( SELECT page_path, page_title …`
-- because: the newest shard at run time is read, a re-run reads another one answers of a language model differ between runs and model versions
-- page labels for the search team. @as_of is set by the scheduler but unused here so far
CREATE OR REPLACE TABLE `web-dw.search.page_label` AS
WITH pages AS (
  SELECT
    page_path,
    MAX(page_title) AS page_title,
    COUNT(*)        AS views
  FROM `web-dw.export.pageviews_*`
  WHERE _TABLE_SUFFIX = (
      SELECT MAX(_TABLE_SUFFIX) FROM `web-dw.export.pageviews_*`
  )
    AND page_path NOT LIKE '/admin/%'
  GROUP BY page_path
)
SELECT
  page_path,
  page_title,
  views,
  JSON_VALUE(ml_generate_text_result, '$.candidates[0].content.parts[0].text') AS label
FROM ML.GENERATE_TEXT(
  MODEL `web-dw.search.labeller`,
  (
    SELECT page_path, page_title, views,
           CONCAT('Give one topic word for: ', page_title) AS prompt
    FROM pages
  ),
  STRUCT(0.0 AS temperature, 16 AS max_output_tokens)
);
