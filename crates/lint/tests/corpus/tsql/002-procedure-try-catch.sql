-- form: script
-- expect: none
CREATE OR ALTER PROCEDURE integration.LoadSalesDay @day date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    BEGIN TRY
        BEGIN TRANSACTION;

        DELETE FROM prod.FactSales WHERE SaleDate = @day;

        INSERT INTO prod.FactSales (SaleDate, StoreId, ProductId, Quantity, Amount)
        SELECT SaleDate, StoreId, ProductId, SUM(Quantity), SUM(Amount)
        FROM stg.Sales
        WHERE SaleDate = @day
        GROUP BY SaleDate, StoreId, ProductId;

        COMMIT TRANSACTION;
    END TRY
    BEGIN CATCH
        IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
        THROW;
    END CATCH;
END;
GO
