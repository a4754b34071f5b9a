-- form: script
-- expect: OM108 warning `DATEPART(WEEKDAY, l.DueOn)`
-- expect: OM101 error `GETDATE()`
-- expect: OM101 error `GETDATE()`
-- expect: OM101 error `GETDATE()`
-- because: the weekday number depends on the session's DATEFIRST / language days late are counted up to the clock, a rebuilt snapshot of March counts to today
CREATE OR ALTER PROCEDURE lib.usp_BuildOverdue
    @AsOf date
AS
/*  Overdue items as of a date. Fees: 0.20 per day, capped at 15.00   */
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    BEGIN TRY
        BEGIN TRANSACTION;

        DELETE FROM lib.OverdueSnapshot WHERE AsOf = @AsOf;

        INSERT INTO lib.OverdueSnapshot (AsOf, LoanId, PatronId, DueOn, DueWeekday, DaysLate, Fee)
        SELECT  @AsOf,
                l.LoanId,
                l.PatronId,
                l.DueOn,
                DATEPART(WEEKDAY, l.DueOn),
                DATEDIFF(DAY, l.DueOn, GETDATE()),
                CASE WHEN DATEDIFF(DAY, l.DueOn, GETDATE()) * 0.20 > 15 THEN 15
                     ELSE DATEDIFF(DAY, l.DueOn, GETDATE()) * 0.20 END
        FROM    lib.Loan AS l
        WHERE   l.DueOn < @AsOf
          AND  (l.ReturnedOn IS NULL OR l.ReturnedOn > @AsOf);

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END
GO
