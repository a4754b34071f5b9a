-- form: script
-- expect: none
WITH ios AS (
  SELECT DATE(submission_timestamp) AS submission_date, client_id, 'iOS' AS os, metadata.geo.country AS country
  FROM stable.ios_baseline
  WHERE DATE(submission_timestamp) = @submission_date
),
android AS (
  SELECT DATE(submission_timestamp) AS submission_date, client_id, 'Android' AS os, metadata.geo.country AS country
  FROM stable.android_baseline
  WHERE DATE(submission_timestamp) = @submission_date
)
SELECT submission_date, os, country, COUNT(DISTINCT client_id) AS dau
FROM (SELECT * FROM ios UNION ALL SELECT * FROM android)
GROUP BY submission_date, os, country
