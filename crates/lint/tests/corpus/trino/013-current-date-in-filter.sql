-- form: script
-- expect: OM101 error `current_date`
CREATE OR REPLACE TABLE iceberg.mart.open_claims AS
SELECT claim_id, policy_id, date_diff('day', opened_on, closed_on) AS days_open
FROM hive.core.claim
WHERE opened_on > current_date - INTERVAL '90' DAY;
