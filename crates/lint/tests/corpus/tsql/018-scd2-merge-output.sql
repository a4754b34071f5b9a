-- form: script
-- expect: OM316 error `GETDATE()`
-- expect: OM316 error `GETDATE()`
SET XACT_ABORT ON;
BEGIN TRAN;
UPDATE d
SET d.RowEnd = GETDATE(), d.IsCurrent = 0
FROM dbo.DimProductHistory AS d
JOIN (SELECT ProductNo, MAX(ListPrice) AS ListPrice FROM stg.Product GROUP BY ProductNo) AS s ON s.ProductNo = d.ProductNo
WHERE d.IsCurrent = 1 AND d.ListPrice <> s.ListPrice;

INSERT INTO dbo.DimProductHistory (ProductNo, ListPrice, RowStart, RowEnd, IsCurrent)
SELECT s.ProductNo, s.ListPrice, GETDATE(), NULL, 1
FROM (SELECT ProductNo, MAX(ListPrice) AS ListPrice FROM stg.Product GROUP BY ProductNo) AS s
LEFT JOIN dbo.DimProductHistory AS d ON d.ProductNo = s.ProductNo AND d.IsCurrent = 1
WHERE d.ProductNo IS NULL;
COMMIT TRAN;
