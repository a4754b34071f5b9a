-- form: script
-- expect: OM106 warning `row_number() OVER (ORDER BY person_id)`
-- expect: OM201 warning `row_number() OVER (ORDER BY person_id)`
-- because: the number is stored as the id of the row, and persons repeat
BEGIN;
TRUNCATE cdm.visit_era;
INSERT INTO cdm.visit_era (visit_era_id, person_id, era_start_date, era_end_date)
SELECT row_number() OVER (ORDER BY person_id), person_id, era_start_date, era_end_date
FROM work.visit_group_era;
COMMIT;
