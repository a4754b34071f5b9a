-- form: script
-- expect: OM404 error `sale_day >= $start`
BEGIN;
DELETE FROM mart.ticket_sales WHERE sale_day >= $start;
INSERT INTO mart.ticket_sales (sale_day, event_code, sold)
SELECT sale_day, event_code, count(*)
FROM raw.ticket
WHERE sale_day >= $start AND sale_day < $end
GROUP BY sale_day, event_code;
COMMIT;
