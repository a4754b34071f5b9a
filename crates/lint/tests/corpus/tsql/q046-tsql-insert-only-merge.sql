-- form: script
-- expect: OM306 error `MERGE dw.DimSupplier`
-- because: A supplier whose terms or VAT number are corrected in the extract is already there and is never updated, however often the load is run.
-- Supplier master from the nightly full extract
;WITH src AS (
    SELECT s.SupplierNo,
           MAX(s.SupplierName) AS SupplierName,
           MAX(s.PaymentTerms) AS PaymentTerms,
           MAX(s.VatNo)        AS VatNo
    FROM stg.SupplierFull AS s
    WHERE s.SupplierNo IS NOT NULL
    GROUP BY s.SupplierNo
)
MERGE dw.DimSupplier WITH (HOLDLOCK) AS t
USING src AS s
   ON t.SupplierNo = s.SupplierNo
WHEN NOT MATCHED BY TARGET THEN
    INSERT (SupplierNo, SupplierName, PaymentTerms, VatNo, CreatedAt)
    VALUES (s.SupplierNo, s.SupplierName, s.PaymentTerms, s.VatNo, GETDATE());
GO
