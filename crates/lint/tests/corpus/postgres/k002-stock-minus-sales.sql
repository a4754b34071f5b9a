-- form: script
-- expect: OM309 error `qty_on_hand = s.qty_on_hand - sold.qty`
BEGIN;

WITH sold AS (
    SELECT l.sku, l.depot_id, sum(l.qty) AS qty
    FROM shop.order_line l
    JOIN shop.orders o USING (order_id)
    WHERE o.shipped_on = %(day)s
    GROUP BY l.sku, l.depot_id
)
UPDATE wms.stock AS s
SET    qty_on_hand = s.qty_on_hand - sold.qty
FROM   sold
WHERE  sold.sku = s.sku
AND    sold.depot_id = s.depot_id;

COMMIT;
