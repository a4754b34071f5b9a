-- form: script
-- expect: OM309 error `m.PointsBalance = m.PointsBalance + e.Pts`
-- expect: OM309 error `m.LifetimePoints += e.Pts`
-- because: the same batch date posted twice gives the points twice.
CREATE PROCEDURE loyalty.PostPoints @BatchDate DATE
AS
BEGIN
  SET NOCOUNT ON;
  BEGIN TRY
    BEGIN TRAN;

    ;WITH earned AS (
        SELECT s.MemberId, SUM(FLOOR(s.NetAmount / 10)) AS Pts
        FROM   pos.Sale AS s
        WHERE  s.SaleDate = @BatchDate
          AND  s.MemberId IS NOT NULL
        GROUP BY s.MemberId
    )
    UPDATE m
    SET    m.PointsBalance  = m.PointsBalance + e.Pts,
           m.LifetimePoints += e.Pts,
           m.LastPostedOn   = @BatchDate
    FROM   loyalty.Member AS m
    JOIN   earned AS e ON e.MemberId = m.MemberId;

    UPDATE loyalty.Tier
    SET    NextReview = DATEADD(MONTH, 3, @BatchDate)
    WHERE  TierCode IN ('GOLD', 'PLAT');

    COMMIT;
  END TRY
  BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK;
    THROW;
  END CATCH
END
