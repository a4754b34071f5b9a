-- form: script
-- expect: OM101 error `CURDATE()`
START TRANSACTION;
DELETE FROM overdue_rental;
INSERT INTO overdue_rental (rental_id, customer_id, days_overdue)
SELECT r.rental_id, r.customer_id, DATEDIFF(CURDATE(), r.due_date)
FROM rental r
WHERE r.return_date IS NULL;
COMMIT;
