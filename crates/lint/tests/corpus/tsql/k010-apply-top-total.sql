-- form: script
-- expect: none
TRUNCATE TABLE #LastVisit;
INSERT INTO #LastVisit (PatientNo, VisitDate, Ward)
SELECT p.PatientNo, v.VisitDate, v.Ward
FROM dbo.Patient p
CROSS APPLY (
    SELECT TOP (1) x.VisitDate, x.Ward
    FROM dbo.Visit x
    WHERE x.PatientNo = p.PatientNo
    ORDER BY x.VisitDate DESC, x.VisitId DESC
) v;
