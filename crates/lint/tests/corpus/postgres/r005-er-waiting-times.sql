-- form: script
-- expect: none
-- because: Slice is deleted and rebuilt in one transaction under a constant month; percentile, rank and an ordered string_agg do not depend on row order, admitted_on is a DATE.
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ;

DELETE FROM report.er_waiting WHERE report_month = CAST(:month AS date);

WITH visits AS (
    SELECT v.ward_code
         , v.triage_level
         , v.primary_icd
         , v.wait_minutes
         , v.admitted_on            -- date
      FROM clinic.er_visit v
     WHERE v.admitted_on >= CAST(:month AS date)
       AND v.admitted_on <  CAST(:month AS date) + INTERVAL '1 month'
       AND v.wait_minutes IS NOT NULL
)
, per_ward AS (
    SELECT ward_code
         , count(*)                                                    AS visits
         , percentile_cont(0.5) WITHIN GROUP (ORDER BY wait_minutes)   AS median_wait
         , percentile_disc(0.9) WITHIN GROUP (ORDER BY wait_minutes)   AS p90_wait
         , string_agg(DISTINCT primary_icd, '|' ORDER BY primary_icd)  AS icd_seen
      FROM visits
     GROUP BY ward_code
)
, triage AS (
    SELECT ward_code
         , count(*) FILTER (WHERE triage_level <= 2)                   AS urgent
         , max(wait_minutes) FILTER (WHERE triage_level <= 2)          AS urgent_max_wait
      FROM visits
     GROUP BY ward_code
)
, wards AS (
    SELECT w.ward_code, w.ward_name, w.site
      FROM ref.ward w                       -- ward_code: primary key
     WHERE w.is_emergency
)
INSERT INTO report.er_waiting
       (report_month, ward_code, ward_name, site, visits, median_wait, p90_wait,
        urgent, urgent_max_wait, icd_seen, wait_rank)
SELECT CAST(:month AS date)
     , p.ward_code
     , w.ward_name
     , w.site
     , p.visits
     , p.median_wait
     , p.p90_wait
     , t.urgent
     , t.urgent_max_wait
     , p.icd_seen
     , rank() OVER (PARTITION BY w.site ORDER BY p.p90_wait DESC)
  FROM per_ward p
  JOIN triage t ON t.ward_code = p.ward_code
  JOIN wards  w ON w.ward_code = p.ward_code;

COMMIT;
