-- form: script
-- expect: OM409 error `INSERT OVERWRITE TABLE mart.page_day`
SET spark.sql.sources.partitionOverwriteMode=static;
INSERT OVERWRITE TABLE mart.page_day
SELECT page, COUNT(*) AS views, view_day
FROM raw.pageview
WHERE view_day = '${day}'
GROUP BY page, view_day;
