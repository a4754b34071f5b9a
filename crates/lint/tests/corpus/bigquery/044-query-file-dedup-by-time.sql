-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY document_id ORDER BY submission_timestamp)`
WITH numbered AS (
  SELECT
    document_id,
    client_id,
    payload,
    submission_timestamp,
    ROW_NUMBER() OVER (PARTITION BY document_id ORDER BY submission_timestamp) AS _n
  FROM
    live.events
  WHERE
    DATE(submission_timestamp) = @submission_date
)
SELECT
  * EXCEPT (_n)
FROM
  numbered
WHERE
  _n = 1
