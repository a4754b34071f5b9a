-- form: script
-- expect: none
CREATE OR ALTER PROCEDURE rpt.LoadShiftDay @Day date
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;
    BEGIN TRY
        BEGIN TRANSACTION;
        DELETE FROM rpt.ShiftDay WHERE ShiftDate = @Day;
        INSERT INTO rpt.ShiftDay (ShiftDate, PlantId, Hours)
        SELECT ShiftDate, PlantId, SUM(Hours)
        FROM hr.Clocking
        WHERE ShiftDate = @Day
        GROUP BY ShiftDate, PlantId;
        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END
