-- form: script
-- expect: none
INSERT INTO catalog.product AS p (product_code, title, list_price, feed_ts)
SELECT DISTINCT ON (f.product_code)
       f.product_code, f.title, f.list_price, f.feed_ts
FROM   import.product_feed f
WHERE  f.batch_no = %(batch_no)s
ORDER  BY f.product_code, f.feed_ts DESC, f.line_no DESC
ON CONFLICT (product_code) DO UPDATE
SET title      = EXCLUDED.title,
    list_price = EXCLUDED.list_price,
    feed_ts    = EXCLUDED.feed_ts
WHERE p.feed_ts <= EXCLUDED.feed_ts;
