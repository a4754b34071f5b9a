-- form: script
-- expect: OM403 error `DATE(p.received_at) = @submission_date`
-- because: the day's pings are picked by arrival but replaced by crash day, so a second run of the day adds again the crashes that happened earlier and deletes those of the day that arrived later
BEGIN TRANSACTION;

DELETE FROM `mobile.telemetry_derived.crash_daily`
WHERE crash_date = @submission_date;

INSERT INTO `mobile.telemetry_derived.crash_daily`
  (crash_date, app_version, os, crashes, clients)
WITH pings AS (
  SELECT
    p.client_id,
    p.app_version,
    p.os,
    p.crashed_on
  FROM `mobile.telemetry.crash_ping` AS p
  WHERE DATE(p.received_at) = @submission_date
    AND p.client_id IS NOT NULL
)
SELECT
  crashed_on AS crash_date,
  app_version,
  os,
  COUNT(*) AS crashes,
  COUNT(DISTINCT client_id) AS clients
FROM pings
GROUP BY crash_date, app_version, os;

COMMIT TRANSACTION;
