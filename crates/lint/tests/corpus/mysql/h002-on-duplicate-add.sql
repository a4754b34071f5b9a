-- form: script
-- expect: OM309 error `qty = qty + VALUES(qty)`
INSERT INTO stock_movement_total (sku, qty, last_moved)
SELECT sku, SUM(qty), MAX(moved_at)
FROM stock_movement
WHERE moved_day = @moved_day
GROUP BY sku
ON DUPLICATE KEY UPDATE
    qty = qty + VALUES(qty),
    last_moved = VALUES(last_moved);
