-- form: script
-- expect: OM311 error `ALTER TABLE stock_level`
START TRANSACTION;
DELETE FROM stock_level WHERE stock_day = @day;
ALTER TABLE stock_level DISABLE KEYS;
INSERT INTO stock_level (stock_day, sku, qty)
SELECT @day, sku, SUM(qty) FROM stock_move WHERE move_day <= @day GROUP BY sku;
COMMIT;
