-- form: script
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY document_id ORDER BY submission_timestamp)`
CREATE OR REPLACE TABLE `acme.telemetry_derived.ping_once`
PARTITION BY DATE(submission_timestamp)
AS
SELECT
  * EXCEPT (sample_id)
FROM
  `acme.telemetry_live.ping`
WHERE
  TRUE
QUALIFY
  ROW_NUMBER() OVER (PARTITION BY document_id ORDER BY submission_timestamp) = 1
