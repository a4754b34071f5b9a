-- form: script
-- expect: OM305 error `SELECT MAX(ModifiedDate) FROM dw.FactInvoice`
DECLARE @lastLoad datetime2(3);
SET @lastLoad = (SELECT MAX(ModifiedDate) FROM dw.FactInvoice);

INSERT INTO dw.FactInvoice (InvoiceId, CustomerId, Amount, ModifiedDate)
SELECT InvoiceId, CustomerId, Amount, ModifiedDate
FROM erp.Invoice
WHERE ModifiedDate > @lastLoad;
