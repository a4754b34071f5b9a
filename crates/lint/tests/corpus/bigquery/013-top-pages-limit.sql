-- form: script
-- expect: OM206 warning `ORDER BY views DESC`
CREATE OR REPLACE TABLE mart.top_pages AS
WITH counted AS (
  SELECT page_path, COUNT(*) AS views
  FROM raw.pageviews
  WHERE view_day >= @from_day AND view_day < @to_day
  GROUP BY page_path
)
SELECT page_path, views
FROM counted
ORDER BY views DESC
LIMIT 50;
