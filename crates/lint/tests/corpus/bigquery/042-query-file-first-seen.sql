-- form: script
-- expect: none
-- because: a query file whose result is written into the day's partition by the scheduler
SELECT
  submission_date,
  client_id,
  MIN_BY(channel, STRUCT(submission_timestamp, document_id)) AS channel,
  COUNT(DISTINCT document_id) AS pings,
  COUNTIF(is_new_profile) AS new_profile_pings
FROM
  stable.first_shutdown
WHERE
  submission_date = @submission_date
GROUP BY
  submission_date,
  client_id
