-- form: script
-- expect: none
DROP TABLE IF EXISTS derived.first_day_urine;
CREATE TABLE derived.first_day_urine AS
SELECT ie.stay_id,
       ie.subject_id,
       sum(uo.urine_ml) AS urine_ml
FROM icu.stays ie
LEFT JOIN derived.urine uo
  ON uo.stay_id = ie.stay_id
 AND uo.charttime >= ie.intime
 AND uo.charttime <= ie.intime + interval '1 day'
GROUP BY ie.stay_id, ie.subject_id;
CREATE INDEX first_day_urine_by_subject ON derived.first_day_urine (subject_id);
