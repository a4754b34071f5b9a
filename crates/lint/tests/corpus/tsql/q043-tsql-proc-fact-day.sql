-- form: script
-- expect: none
-- because: XACT_ABORT plus TRY/CATCH transaction, the same half-open dates on both sides, STRING_AGG ordered by its own value, history join by service date, clock as audit column.
CREATE OR ALTER PROCEDURE dw.usp_LoadFactClaim
    @FromDate date,
    @ToDate   date      -- exclusive
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    BEGIN TRY
        BEGIN TRANSACTION;

        DELETE f
        FROM dw.FactClaim AS f
        WHERE f.ServiceDate >= @FromDate
          AND f.ServiceDate <  @ToDate;

        INSERT INTO dw.FactClaim
            (ClaimNo, ServiceDate, MemberKey, DiagnosisCodes, PaidAmount, LoadedAtUtc)
        SELECT c.ClaimNo,
               c.ServiceDate,
               COALESCE(m.MemberKey, -1),
               STRING_AGG(c.DiagnosisCode, '|') WITHIN GROUP (ORDER BY c.DiagnosisCode),
               SUM(c.PaidAmount),
               SYSUTCDATETIME()
        FROM stg.ClaimLine AS c
        LEFT JOIN dw.DimMember AS m
               ON m.MemberNo = c.MemberNo
              AND c.ServiceDate >= m.ValidFrom
              AND c.ServiceDate <  m.ValidTo
        WHERE c.ServiceDate >= @FromDate
          AND c.ServiceDate <  @ToDate
        GROUP BY c.ClaimNo, c.ServiceDate, COALESCE(m.MemberKey, -1);

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH
END;
GO
