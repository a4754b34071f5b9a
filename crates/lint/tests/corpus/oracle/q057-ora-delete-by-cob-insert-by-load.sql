-- form: script
-- expect: OM403 error `i.load_date = v_day`
-- because: It deletes by invoice_date and inserts by load_date: a second run doubles the lines of older invoices loaded that day, and removes the day's invoices that were loaded on another day.
DECLARE
  v_day DATE := TO_DATE('&run_date', 'YYYY-MM-DD');
BEGIN
  DELETE FROM dwh.f_invoice_line f
   WHERE f.invoice_date = v_day;

  INSERT INTO dwh.f_invoice_line
    (invoice_no, line_no, invoice_date, customer_no, net_amount, tax_amount)
  SELECT i.invoice_no,
         i.line_no,
         i.invoice_date,
         i.customer_no,
         i.net_amount,
         i.tax_amount
    FROM stg.invoice_line i
   WHERE i.load_date = v_day
     AND i.line_type IN ('ITEM', 'FREIGHT');

  COMMIT;
EXCEPTION
  WHEN OTHERS THEN
    ROLLBACK;
    RAISE;
END;
/
