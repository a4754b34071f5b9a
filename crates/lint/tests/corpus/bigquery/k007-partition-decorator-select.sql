-- form: script
-- expect: none
-- because: the scheduler writes the result over the day's partition
SELECT
  @submission_date AS submission_date,
  client_id,
  SUM(active_hours) AS active_hours,
  LOGICAL_OR(is_default_browser) AS is_default_browser,
  COUNT(*) AS pings
FROM
  `acme.telemetry_stable.main`
WHERE
  DATE(submission_timestamp) = @submission_date
GROUP BY
  client_id
