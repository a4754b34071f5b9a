-- form: script
-- expect: none
IF OBJECT_ID('dbo.Price_new') IS NOT NULL DROP TABLE dbo.Price_new;
SELECT Sku, MIN(Price) AS Price INTO dbo.Price_new FROM stg.Price GROUP BY Sku;
BEGIN TRAN;
IF OBJECT_ID('dbo.Price') IS NOT NULL DROP TABLE dbo.Price;
EXEC sp_rename 'dbo.Price_new', 'Price';
COMMIT;
