-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: day
key: [visit_no]
*/
SELECT v.visit_no, v.day, v.clinic,
       row_number() OVER (PARTITION BY v.day, v.clinic ORDER BY v.visit_no) AS nth_of_day
FROM raw.visit AS v
WHERE v.day >= :interval_start AND v.day < :interval_end
