-- form: script
-- expect: OM102 error `CURDATE()`
-- because: the part of the key that names the day is the clock, so the repair of a missed Sunday on Monday writes Monday's key
REPLACE INTO inventory_snapshot
  (snapshot_date, warehouse_id, sku, on_hand, reserved, value_cents)
SELECT
  CURDATE(),
  s.warehouse_id,
  s.sku,
  SUM(s.qty_on_hand),
  SUM(s.qty_reserved),
  SUM(s.qty_on_hand * p.cost_cents)
FROM stock s
JOIN product p ON p.sku = s.sku
WHERE s.qty_on_hand <> 0 OR s.qty_reserved <> 0
GROUP BY s.warehouse_id, s.sku;
