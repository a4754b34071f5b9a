-- form: model
-- expect: OM201 warning `ROW_NUMBER() OVER (PARTITION BY v.plate ORDER BY v.inspected_on DESC)`
/* oncemore
kind: slice
interval: month
time: inspected_on
key: [plate]
*/
SELECT plate, inspected_on, verdict
FROM (
  SELECT v.plate, v.inspected_on, v.verdict,
         ROW_NUMBER() OVER (PARTITION BY v.plate ORDER BY v.inspected_on DESC) AS nth
  FROM raw.inspections AS v
  WHERE v.inspected_on >= :interval_start AND v.inspected_on < :interval_end
) AS x
WHERE nth = 1
