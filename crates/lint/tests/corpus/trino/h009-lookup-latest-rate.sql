-- form: script
-- expect: OM111 warning `SELECT max(rate_date) FROM iceberg.ref.rate`
START TRANSACTION;
DELETE FROM iceberg.mart.invoice_eur WHERE invoice_date = DATE '{{ ds }}';
INSERT INTO iceberg.mart.invoice_eur (invoice_no, invoice_date, amount_eur)
SELECT i.invoice_no, i.invoice_date, i.amount * r.rate
FROM iceberg.raw.invoice i
JOIN iceberg.ref.rate r ON r.currency = i.currency
WHERE i.invoice_date = DATE '{{ ds }}'
  AND r.rate_date = (SELECT max(rate_date) FROM iceberg.ref.rate);
COMMIT;
