-- form: script
-- expect: OM101 error `SYSDATETIME()`
TRUNCATE TABLE stg.PatientAge;
INSERT INTO stg.PatientAge (PatientId, AgeYears)
SELECT PatientId, DATEDIFF(year, BirthDate, SYSDATETIME())
FROM ods.Patient;

SET XACT_ABORT ON;
BEGIN TRAN;
DELETE FROM mart.PatientAgeBand;
INSERT INTO mart.PatientAgeBand (Band, Patients)
SELECT AgeYears / 10, COUNT(*)
FROM stg.PatientAge
GROUP BY AgeYears / 10;
COMMIT TRAN;
