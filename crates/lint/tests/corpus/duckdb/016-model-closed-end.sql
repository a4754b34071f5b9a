-- form: model
-- expect: OM402 error `ordered_at BETWEEN :interval_start AND :interval_end`
/* oncemore
kind: slice
interval: day
time: ordered_at
key: [order_id]
*/
SELECT order_id, ordered_at, cents
FROM raw.orders
WHERE ordered_at BETWEEN :interval_start AND :interval_end
