-- form: script
-- expect: OM403 error `e.received_on = :'d'::date`
-- because: deletes by census date (occupied_on) but selects by arrival date, so late events land under days that are not replaced
-- ward_census.sql
-- nightly census per ward; call: psql -v d=2026-03-01 -f ward_census.sql
-- idempotent (we delete first, see HIS-2231)
\set ON_ERROR_STOP on

BEGIN;

DELETE FROM ward.census_daily
 WHERE census_date = :'d'::date;

INSERT INTO ward.census_daily (census_date, ward_id, patients, bed_events)
SELECT e.occupied_on,
       e.ward_id,
       count(DISTINCT e.patient_id),
       count(*)
  FROM ward.bed_event AS e
  JOIN ward.ward      AS w ON w.ward_id = e.ward_id
 WHERE e.received_on = :'d'::date          -- interface engine date
   AND w.is_virtual IS NOT TRUE
 GROUP BY e.occupied_on, e.ward_id;

COMMIT;
