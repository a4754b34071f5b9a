-- form: script
-- expect: OM110 warning `OPENROWSET(…`
SET XACT_ABORT ON;
BEGIN TRAN;
DELETE FROM landing.Price;
INSERT INTO landing.Price (Sku, Price)
SELECT r.Sku, r.Price
FROM OPENROWSET(BULK 'https://store.example.com/price/latest.parquet', FORMAT = 'PARQUET') AS r;
COMMIT TRAN;
