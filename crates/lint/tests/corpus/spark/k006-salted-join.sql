-- form: script
-- expect: OM113 error `rand()`
CREATE OR REPLACE TABLE silver.order_enriched AS
SELECT /*+ SHUFFLE_HASH(c) */ o.order_id, o.amount, c.segment
FROM (
  SELECT *, CAST(floor(rand() * 16) AS INT) AS salt
  FROM silver.orders
) o
JOIN (
  SELECT c.*, s.salt
  FROM silver.customer c
  LATERAL VIEW explode(sequence(0, 15)) s AS salt
) c
ON o.customer_id = c.customer_id AND o.salt = c.salt;
