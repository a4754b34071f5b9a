-- form: script
-- expect: OM105 error `UUID()`
START TRANSACTION;
DELETE FROM export_line WHERE export_day = @day;
INSERT INTO export_line (line_id, export_day, order_no, cents)
SELECT UUID(), @day, order_no, cents
FROM orders
WHERE order_day = @day AND state = 'paid';
COMMIT;
