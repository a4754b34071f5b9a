-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM derived.clients_daily WHERE submission_date = @submission_date;
INSERT INTO derived.clients_daily (
  submission_date, client_id, first_document, pings, active_hours, crashes, countries, is_default
)
WITH base AS (
  SELECT
    submission_date,
    client_id,
    document_id,
    submission_timestamp,
    SAFE_CAST(payload.active_ticks AS INT64) AS active_ticks,
    payload.crashes AS crashes,
    metadata.geo.country AS country,
    environment.is_default_browser AS is_default_browser
  FROM stable.main
  WHERE submission_date = @submission_date
    AND client_id IS NOT NULL
),
per_client AS (
  SELECT
    submission_date,
    client_id,
    MIN(document_id) AS first_document,
    COUNT(DISTINCT document_id) AS pings,
    ROUND(SUM(active_ticks) * 5 / 3600, 2) AS active_hours,
    SUM(IFNULL(crashes, 0)) AS crashes,
    COUNT(DISTINCT country) AS countries,
    LOGICAL_OR(is_default_browser) AS is_default
  FROM base
  GROUP BY submission_date, client_id
)
SELECT submission_date, client_id, first_document, pings, active_hours, crashes, countries, is_default
FROM per_client
WHERE active_hours < 25;
COMMIT TRANSACTION;
