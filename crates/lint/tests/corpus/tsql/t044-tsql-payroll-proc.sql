-- form: script
-- expect: none
CREATE OR ALTER PROCEDURE pay.usp_LoadOvertime
    @PeriodStart date,
    @PeriodEnd   date,          -- exclusive
    @RunId       uniqueidentifier
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    DECLARE @rows int;

    BEGIN TRY
        BEGIN TRAN;

        DELETE FROM pay.Overtime
        WHERE  WorkDate >= @PeriodStart AND WorkDate < @PeriodEnd;

        INSERT INTO pay.Overtime (WorkDate, EmployeeNo, Minutes, RateCode, LoadedAtUtc)
        SELECT c.WorkDate, c.EmployeeNo, SUM(c.Minutes) - 480, MAX(c.RateCode), SYSUTCDATETIME()
        FROM   pay.ClockCard AS c
        WHERE  c.WorkDate >= @PeriodStart AND c.WorkDate < @PeriodEnd
        GROUP BY c.WorkDate, c.EmployeeNo
        HAVING SUM(c.Minutes) > 480;

        SET @rows = @@ROWCOUNT;
        COMMIT TRAN;

        -- operational log, one row per attempt
        INSERT INTO ops.RunLog (RunId, Step, FinishedAt, RowsWritten)
        VALUES (@RunId, N'Overtime', GETDATE(), @rows);
    END TRY
    BEGIN CATCH
        IF XACT_STATE() <> 0 ROLLBACK TRAN;
        THROW;
    END CATCH
END
GO
