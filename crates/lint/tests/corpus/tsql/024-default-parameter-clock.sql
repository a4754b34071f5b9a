-- form: script
-- expect: OM101 warning `GETDATE()`
CREATE OR ALTER PROCEDURE etl.LoadVisitDay @day date = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    IF @day IS NULL SET @day = CAST(DATEADD(day, -1, GETDATE()) AS date);

    BEGIN TRAN;
    DELETE FROM mart.VisitDay WHERE VisitDate = @day;
    INSERT INTO mart.VisitDay (VisitDate, ClinicId, Visits)
    SELECT VisitDate, ClinicId, COUNT(*)
    FROM ods.Visit
    WHERE VisitDate = @day
    GROUP BY VisitDate, ClinicId;
    COMMIT TRAN;
END;
