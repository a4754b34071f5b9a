-- form: script
-- expect: OM310 error `DELETE FROM…`
DECLARE run_date DATE DEFAULT @run_date;

DELETE FROM `acme-dwh.mart.daily_orders` WHERE order_date = run_date;

INSERT INTO `acme-dwh.mart.daily_orders` (order_date, store_id, orders, revenue)
SELECT order_date, store_id, COUNT(*), SUM(amount)
FROM `acme-dwh.raw.orders`
WHERE order_date = run_date
GROUP BY order_date, store_id;
