-- form: script
-- expect: OM310 error `DELETE FROM dwh.f_invoice`
CREATE TEMP TABLE f_invoice_tmp AS
SELECT invoice_id, invoice_date, client_id, total_gross
FROM ods.invoice
WHERE invoice_date >= '{{ data_interval_start }}' AND invoice_date < '{{ data_interval_end }}';

DELETE FROM dwh.f_invoice
USING f_invoice_tmp t
WHERE dwh.f_invoice.invoice_id = t.invoice_id;

INSERT INTO dwh.f_invoice (invoice_id, invoice_date, client_id, total_gross)
SELECT invoice_id, invoice_date, client_id, total_gross FROM f_invoice_tmp;
