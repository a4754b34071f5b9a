-- form: script
-- expect: none
CREATE OR REPLACE VIEW v_order_totals AS
SELECT o.order_no, o.customer_id, SUM(l.cents) AS cents, MAX(l.changed_at) AS changed_at
FROM orders o
JOIN order_line l ON l.order_no = o.order_no
GROUP BY o.order_no, o.customer_id;
