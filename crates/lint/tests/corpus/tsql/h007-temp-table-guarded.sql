-- form: script
-- expect: none
IF OBJECT_ID('tempdb..#changed') IS NOT NULL DROP TABLE #changed;

SELECT p.PolicyNo, MAX(p.Premium) AS Premium
INTO #changed
FROM stg.Policy p
GROUP BY p.PolicyNo;

UPDATE t
SET t.Premium = c.Premium
FROM dwh.Policy t
INNER JOIN #changed c ON c.PolicyNo = t.PolicyNo;
