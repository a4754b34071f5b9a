-- form: script
-- expect: OM309 error `qty = excluded.qty + COALESCE(l.qty, 0)`
INSERT INTO stock.level AS l (sku, qty) SELECT sku, sum(delta) FROM stock.move WHERE moved_at >= :a AND moved_at < :b GROUP BY sku
ON CONFLICT (sku) DO UPDATE SET qty = excluded.qty + COALESCE(l.qty, 0);
