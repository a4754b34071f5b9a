-- form: model
-- expect: none
/* oncemore
kind: full
key: [tailnum]
*/
SELECT tailnum, max(model) AS model, min(first_flown) AS first_flown
FROM raw.planes
GROUP BY tailnum
