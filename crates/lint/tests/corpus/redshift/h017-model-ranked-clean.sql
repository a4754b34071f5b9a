-- form: model
-- expect: none
/* oncemore
kind: full
key: [product, week]
*/
WITH weekly AS (
  SELECT product, week, sum(units) AS units
  FROM raw.sales
  GROUP BY product, week
)
SELECT product, week, units, row_number() OVER (PARTITION BY week ORDER BY units DESC, product) AS place
FROM weekly
