-- form: script
-- expect: OM101 error `GETDATE()`
-- expect: OM304 error `NOT EXISTS (SELECT 1 FROM dw.FactClaim AS f WHERE f.ClaimId = c.ClaimId)`
-- because: the window follows the clock of the server, a late re-run loads other days. a claim already in the fact table is never corrected.
CREATE OR ALTER PROCEDURE etl.usp_LoadFactClaim
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    /* JK 14.02.2019 - only new claims are added, source does not delete
       JK 03.09.2020 - window widened to 7 days because of weekend outage */
    INSERT INTO dw.FactClaim (ClaimId, PolicyId, ClaimDate, StatusCode, ReserveAmount)
    SELECT  c.ClaimId,
            c.PolicyId,
            c.ClaimDate,
            c.StatusCode,
            c.ReserveAmount
    FROM    stg.Claim AS c
    WHERE   c.ClaimDate >= DATEADD(DAY, -7, CAST(GETDATE() AS date))
      AND   NOT EXISTS (SELECT 1
                        FROM   dw.FactClaim AS f
                        WHERE  f.ClaimId = c.ClaimId);

    INSERT INTO etl.LoadLog (ProcName, RowsAffected, LoggedAt)
    VALUES (OBJECT_NAME(@@PROCID), @@ROWCOUNT, SYSDATETIME());
END
GO
