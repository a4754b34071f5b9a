-- form: script
-- expect: OM204 warning `ANY_VALUE(normalized_os)`
SELECT
  submission_date,
  profile_id,
  ANY_VALUE(normalized_os) AS os,
  SUM(search_count) AS searches,
  MAX(app_version) AS app_version
FROM
  stable.baseline
WHERE
  submission_date = @submission_date
GROUP BY
  submission_date,
  profile_id
