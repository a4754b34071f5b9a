-- form: script
-- expect: none
-- because: A full refresh from an unbounded source in one transaction (TRUNCATE is transactional in SQL Server); both windows are ordered by the unique change key; DATEFIRST fixes a setting and no value depends on it.
CREATE OR ALTER PROCEDURE dw.usp_RebuildDimEmployeeHistory
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET DATEFIRST 1;

    BEGIN TRANSACTION;

    TRUNCATE TABLE dw.DimEmployeeHistory;      -- transactional in SQL Server

    INSERT INTO dw.DimEmployeeHistory
        (EmployeeNo, VersionNo, Department, Grade, ValidFrom, ValidTo)
    SELECT h.EmployeeNo,
           ROW_NUMBER() OVER (PARTITION BY h.EmployeeNo ORDER BY h.EffectiveDate, h.ChangeSeq),
           h.Department,
           h.Grade,
           h.EffectiveDate,
           LEAD(h.EffectiveDate, 1, DATEFROMPARTS(9999, 12, 31))
               OVER (PARTITION BY h.EmployeeNo ORDER BY h.EffectiveDate, h.ChangeSeq)
    FROM hr.EmployeeChange AS h                -- unique: EmployeeNo, EffectiveDate, ChangeSeq
    WHERE h.IsVoid = 0;

    COMMIT TRANSACTION;
END;
GO
EXEC dw.usp_RebuildDimEmployeeHistory;
