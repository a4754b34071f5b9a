-- form: script
-- expect: OM111 warning `SELECT max(snapshot) FROM lake.raw.employees`
CREATE OR REPLACE TABLE lake.gold.headcount AS
SELECT department, count(*) AS people
FROM lake.raw.employees
WHERE snapshot = (SELECT max(snapshot) FROM lake.raw.employees)
GROUP BY department;
