-- form: script
-- expect: OM206 error `TOP 1`
SET XACT_ABORT ON;
BEGIN TRAN;
DELETE FROM mart.PatientDoctor WHERE AsOf = @asOf;
INSERT INTO mart.PatientDoctor (AsOf, PatientId, DoctorId)
SELECT @asOf, p.PatientId, d.DoctorId
FROM ods.Patient AS p
CROSS APPLY (
    SELECT TOP 1 v.DoctorId
    FROM ods.Visit AS v
    WHERE v.PatientId = p.PatientId AND v.VisitDate < @asOf
) AS d;
COMMIT TRAN;
