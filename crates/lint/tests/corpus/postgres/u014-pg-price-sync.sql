-- form: script
-- expect: OM111 warning `SELECT max(feed_date) FROM supplier.price_feed`
-- expect: OM209 warning `feed`
-- because: which list is the newest moves with each delivery, a re-run takes other prices. several suppliers list the same sku, which row wins is open.
/*
 * catalog/price_sync.sql
 * Takes over the newest supplier price list.
 */
BEGIN;
LOCK TABLE catalog.product IN SHARE ROW EXCLUSIVE MODE;

WITH feed AS (
    SELECT f.sku, f.net_price, f.currency, f.supplier_id
    FROM   supplier.price_feed f
    WHERE  f.feed_date = (SELECT max(feed_date) FROM supplier.price_feed)
      AND  f.net_price > 0
)
UPDATE catalog.product p
SET    net_price   = feed.net_price,
       currency    = feed.currency,
       supplier_id = feed.supplier_id
FROM   feed
WHERE  feed.sku = p.sku
  AND  p.price_source = 'FEED';

COMMIT;
