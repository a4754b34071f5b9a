-- form: script
-- expect: none
BEGIN TRANSACTION;
DELETE FROM mart.unmatched_invoice WHERE invoice_date = @day;
INSERT INTO mart.unmatched_invoice (invoice_date, invoice_id, supplier_id, amount)
SELECT i.invoice_date, i.invoice_id, i.supplier_id, i.amount
FROM raw.invoices i
WHERE i.invoice_date = @day
  AND i.invoice_id NOT IN (SELECT invoice_id FROM raw.invoice_matches WHERE invoice_id IS NOT NULL);
COMMIT TRANSACTION;
