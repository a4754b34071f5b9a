-- form: script
-- expect: OM312 error `TRUNCATE TABLE dbo.PriceBook`
TRUNCATE TABLE dbo.PriceBook;
INSERT INTO dbo.PriceBook (Sku, Price)
SELECT p.Sku, MIN(p.Price)
FROM stg.Price AS p
GROUP BY p.Sku;
