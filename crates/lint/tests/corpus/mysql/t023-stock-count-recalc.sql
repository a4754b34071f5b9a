-- form: script
-- expect: OM311 error `TRUNCATE TABLE inv.tmp_count_lines`
-- because: TRUNCATE commits implicitly in MySQL, so the delete is final before the insert has run
-- inventory recount per shop; run by cron with @shop and @cnt_date set by the wrapper
SET autocommit = 0;
START TRANSACTION;

DELETE FROM inv.stock_count
 WHERE shop_id = @shop
   AND count_date = @cnt_date;

TRUNCATE TABLE inv.tmp_count_lines;

INSERT INTO inv.tmp_count_lines (shop_id, sku, qty)
SELECT shop_id, sku, SUM(qty)
FROM   inv.handheld_scan
WHERE  shop_id = @shop
  AND  count_date = @cnt_date
GROUP  BY shop_id, sku;

INSERT INTO inv.stock_count (shop_id, count_date, sku, qty_counted, qty_book)
SELECT l.shop_id, @cnt_date, l.sku, l.qty, COALESCE(b.qty, 0)
FROM   inv.tmp_count_lines l
LEFT   JOIN inv.book_stock b
       ON  b.shop_id = l.shop_id
       AND b.sku = l.sku
       AND b.as_of = @cnt_date;

COMMIT;
