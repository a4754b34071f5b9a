-- form: script
-- expect: none
START TRANSACTION;
DELETE FROM reminder_due WHERE due_day = @day;
INSERT INTO reminder_due (due_day, invoice_no, customer_id)
SELECT i.due_day, i.invoice_no, i.customer_id
FROM invoice i
WHERE i.due_day = @day
  AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.invoice_no = i.invoice_no);
COMMIT;
