-- form: script
-- expect: none
CREATE TEMPORARY TABLE tmp_total AS
SELECT order_id, SUM(qty * price) AS total FROM order_line GROUP BY order_id;
ALTER TABLE tmp_total ADD PRIMARY KEY (order_id);
UPDATE orders o JOIN tmp_total t ON t.order_id = o.order_id SET o.total = t.total;
DROP TEMPORARY TABLE tmp_total;
