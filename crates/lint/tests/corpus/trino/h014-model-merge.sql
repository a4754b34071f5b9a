-- form: model
-- expect: none
/* oncemore
kind: merge
interval: hour
time: received_at
key: [order_no]
order_by: [received_at]
*/
SELECT order_no, received_at, state, carrier
FROM raw.order_status
WHERE received_at >= :interval_start AND received_at < :interval_end
  AND state IN ('shipped', 'delivered', 'returned')
