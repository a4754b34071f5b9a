-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM `acme.derived.search_day` WHERE submission_date = @submission_date;
INSERT INTO `acme.derived.search_day` (submission_date, country, engine, searches)
WITH base AS (
  SELECT
    submission_date,
    country,
    normalized_engine AS engine,
    sap
  FROM `acme.stable.search_clients`
  WHERE submission_date = @submission_date AND sap IS NOT NULL
)
SELECT submission_date, country, engine, SUM(sap)
FROM base
GROUP BY submission_date, country, engine;
COMMIT TRANSACTION;
