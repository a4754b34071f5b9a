-- form: script
-- expect: OM206 warning `ORDER BY sold DESC`
START TRANSACTION;
DELETE FROM top_seller WHERE week_start = @week_start;
INSERT INTO top_seller (week_start, sku, sold)
SELECT @week_start, sku, SUM(qty) AS sold
FROM order_line
WHERE order_day >= @week_start AND order_day < @week_start + INTERVAL 7 DAY
GROUP BY sku
ORDER BY sold DESC
LIMIT 20;
COMMIT;
