-- form: script
-- expect: OM316 error `GETDATE()`
-- expect: OM316 error `GETDATE()`
SET XACT_ABORT ON;
BEGIN TRAN;

UPDATE d
SET d.ValidTo = GETDATE()
FROM dwh.DimSupplier d
JOIN (SELECT SupplierCode, MAX(City) AS City FROM stg.Supplier GROUP BY SupplierCode) s
	ON s.SupplierCode = d.SupplierCode
WHERE d.ValidTo IS NULL AND d.City <> s.City;

INSERT INTO dwh.DimSupplier (SupplierCode, City, ValidFrom, ValidTo)
SELECT s.SupplierCode, s.City, GETDATE(), NULL
FROM (SELECT SupplierCode, MAX(City) AS City FROM stg.Supplier GROUP BY SupplierCode) s
LEFT JOIN dwh.DimSupplier d ON d.SupplierCode = s.SupplierCode AND d.ValidTo IS NULL
WHERE d.SupplierCode IS NULL;

COMMIT TRAN;
