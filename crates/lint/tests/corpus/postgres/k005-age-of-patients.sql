-- form: script
-- expect: OM101 error `age(p.born_on)`
DROP TABLE IF EXISTS study.cohort;
CREATE TABLE study.cohort AS
SELECT p.patient_id,
       p.sex,
       extract(year FROM age(p.born_on))::int AS age_years,
       min(a.admitted_at)                     AS first_admission
FROM   hosp.patient p
JOIN   hosp.admission a ON a.patient_id = p.patient_id
GROUP  BY p.patient_id, p.sex, p.born_on;
