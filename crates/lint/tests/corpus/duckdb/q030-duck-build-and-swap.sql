-- form: script
-- expect: none
-- because: Both inserts fill a table created empty in this script, which is then swapped in transactionally; the anti-join is against a source; the CREATE is preceded by a guarded DROP.
DROP TABLE IF EXISTS product_stats_new;

CREATE TABLE product_stats_new (
  product_id BIGINT PRIMARY KEY,
  orders     BIGINT,
  returns    BIGINT,
  revenue    DECIMAL(18,2)
);

INSERT INTO product_stats_new (product_id, orders, returns, revenue)
SELECT product_id,
       count(*) FILTER (WHERE kind = 'order'),
       count(*) FILTER (WHERE kind = 'return'),
       sum(amount)
FROM order_line
GROUP BY product_id;

INSERT INTO product_stats_new (product_id, orders, returns, revenue)
SELECT p.product_id, 0, 0, 0
FROM product AS p
WHERE NOT EXISTS (SELECT 1 FROM order_line AS l WHERE l.product_id = p.product_id);

BEGIN TRANSACTION;
DROP TABLE IF EXISTS product_stats;
ALTER TABLE product_stats_new RENAME TO product_stats;
COMMIT;
