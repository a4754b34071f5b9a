-- form: script
-- expect: OM305 error `SELECT @LastModified = ISNULL(MAX(ModifiedAt), '19000101') FROM warehouse.FactSt …`
-- because: The window starts at the highest ModifiedAt of the target: a row that commits late with an earlier time is lost for good, and no past period can be run again.
CREATE OR ALTER PROCEDURE integration.LoadStockMovement
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @LastModified datetime2(3);

    SELECT @LastModified = ISNULL(MAX(ModifiedAt), '19000101')
    FROM warehouse.FactStockMovement;

    BEGIN TRANSACTION;

    INSERT INTO warehouse.FactStockMovement
        (MovementId, ItemCode, LocationCode, Quantity, ModifiedAt, LineageLoadedAt)
    SELECT m.MovementId,
           m.ItemCode,
           m.LocationCode,
           m.Quantity,
           m.ModifiedAt,
           SYSUTCDATETIME()
    FROM erp.StockMovement AS m
    WHERE m.ModifiedAt > @LastModified;

    COMMIT TRANSACTION;
END;
GO
