-- form: script
-- expect: none
SET NOCOUNT ON;
SET XACT_ABORT ON;

BEGIN TRANSACTION;

DELETE f
FROM dbo.FactSales AS f
WHERE f.SaleDate = @RunDate;

INSERT INTO dbo.FactSales (SaleDate, StoreKey, ProductKey, Amount)
SELECT s.SaleDate, s.StoreKey, s.ProductKey, SUM(s.Amount)
FROM stg.Sales AS s
WHERE s.SaleDate = @RunDate
GROUP BY s.SaleDate, s.StoreKey, s.ProductKey;

COMMIT TRANSACTION;
