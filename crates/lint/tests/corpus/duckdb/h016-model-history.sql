-- form: model
-- expect: none
/* oncemore
kind: history
interval: day
time: updated_at
key: [sku]
*/
SELECT sku, title, list_price, updated_at
FROM raw.product_change
WHERE updated_at >= :interval_start AND updated_at < :interval_end
