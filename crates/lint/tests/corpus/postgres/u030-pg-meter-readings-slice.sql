-- form: script
-- expect: OM404 error `reading_day >= :'d'::date`
-- because: deletes this day and all later ones, but only one day is inserted.
-- reload one day of smart meter totals
--   psql -v d=2024-05-01 -f meter_day.sql
\set ON_ERROR_STOP 1
BEGIN;

DELETE FROM grid.meter_day
 WHERE reading_day >= :'d'::date;

INSERT INTO grid.meter_day (reading_day, meter_id, kwh_import, kwh_export, n_readings)
SELECT r.reading_day,
       r.meter_id,
       sum(r.kwh_import),
       sum(r.kwh_export),
       count(*)
  FROM grid.meter_reading r
  JOIN grid.meter m USING (meter_id)
 WHERE r.reading_day = :'d'::date
   AND m.commissioned_on <= r.reading_day
 GROUP BY r.reading_day, r.meter_id;

COMMIT;
