-- form: script
-- expect: none
DROP TABLE IF EXISTS rpt.TeamList;
SELECT t.TeamId,
       STRING_AGG(e.FullName, ', ') WITHIN GROUP (ORDER BY e.FullName) AS Members,
       COUNT(*) AS Headcount
INTO rpt.TeamList
FROM hr.Team t
JOIN hr.Employee e ON e.TeamId = t.TeamId
GROUP BY t.TeamId;
