-- form: script
-- expect: none
CREATE OR REPLACE TABLE lake.gold.headcount_asof AS
SELECT department, count(*) AS people
FROM lake.raw.employees
WHERE snapshot = DATE '{{ ds }}'
GROUP BY department;
