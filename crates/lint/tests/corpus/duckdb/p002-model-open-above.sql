-- form: model
-- expect: OM401 error `o.ordered_at >= :interval_start`
/* oncemore
kind: slice
interval: day
time: ordered_at
key: [order_no]
*/
SELECT o.order_no, o.ordered_at, o.total
FROM raw.orders AS o
WHERE o.ordered_at >= :interval_start
