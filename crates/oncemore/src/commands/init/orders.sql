/* oncemore
kind: slice                      # one task replaces the rows of one interval, all of them, atomically
interval: day
time: ordered_at                 # the output column that says which slice a row belongs to
key: [order_id]                  # unique within the slice; lets readers of unchanged columns be left alone
audits:                          # must hold before the rows become visible
  - not_null: [order_id, amount]
  - range: {column: amount, min: 0}
*/
SELECT o.order_id,
       o.ordered_at,
       o.customer,
       o.amount
  FROM raw.orders AS o
 WHERE o.ordered_at >= :interval_start   -- typed values, not text: they take the type of what they are compared with
   AND o.ordered_at < :interval_end
