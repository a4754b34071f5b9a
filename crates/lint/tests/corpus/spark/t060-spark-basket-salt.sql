-- form: script
-- expect: none
-- baskets per day. skew on "anonymous" customers -> salted by a hash of the basket id
SET spark.sql.sources.partitionOverwriteMode=dynamic;
SET spark.sql.adaptive.enabled=true;

WITH deduped AS (
  SELECT DISTINCT basket_id, line_no, customer_id, sku, qty, price_cents, basket_day
  FROM   shop.basket_line
  WHERE  basket_day >= '${hivevar:from_day}'
    AND  basket_day <  '${hivevar:to_day}'
),
salted AS (
  SELECT d.*,
         pmod(hash(d.basket_id), 32) AS salt
  FROM   deduped d
)
INSERT OVERWRITE TABLE shop.basket PARTITION (basket_day)
SELECT basket_id,
       max(customer_id)        AS customer_id,
       count(*)                AS lines,
       sum(qty * price_cents)  AS total_cents,
       max(salt)               AS salt,
       basket_day
FROM   salted
GROUP  BY basket_day, basket_id
DISTRIBUTE BY basket_day, pmod(hash(basket_id), 32);
