-- form: script
-- expect: none
-- because: everything is decided by keys and ranges; rank keeps ties
DROP TABLE IF EXISTS derived.kidney_score;
CREATE TABLE derived.kidney_score AS
WITH labs AS (
  SELECT l.stay_id, l.charttime, l.creatinine
  FROM derived.chemistry AS l
  WHERE l.creatinine IS NOT NULL
    AND l.creatinine <= 150
), lowest AS (
  SELECT a.stay_id, a.charttime, a.creatinine,
         min(b.creatinine) AS lowest_48h
  FROM labs AS a
  LEFT JOIN labs AS b
    ON b.stay_id = a.stay_id
   AND b.charttime < a.charttime
   AND b.charttime >= a.charttime - interval '48 hours'
  GROUP BY a.stay_id, a.charttime, a.creatinine
), scored AS (
  SELECT stay_id, charttime,
         CASE
           WHEN creatinine >= lowest_48h * 3 THEN 3
           WHEN creatinine >= lowest_48h * 2 THEN 2
           WHEN creatinine >= lowest_48h + 0.3 THEN 1
           ELSE 0
         END AS stage
  FROM lowest
)
SELECT ie.subject_id, s.stay_id, s.charttime, s.stage,
       rank() OVER (PARTITION BY s.stay_id ORDER BY s.stage DESC) AS severity_place
FROM scored AS s
JOIN icu.stays AS ie ON ie.stay_id = s.stay_id;
