-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM hr.headcount WHERE as_of_date = @as_of;
INSERT INTO hr.headcount (as_of_date, department, heads)
SELECT @as_of, department, COUNT(*)
FROM hr.employment
WHERE started_on <= @as_of AND (ended_on IS NULL OR ended_on > @as_of)
GROUP BY department;
COMMIT TRANSACTION;
