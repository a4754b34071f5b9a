-- form: model
-- expect: OM403 error `e.landed_at >= :interval_start AND e.landed_at < :interval_end`
/* oncemore
kind: slice
interval: day
time: swiped_at
key: [swipe_id]
*/
SELECT e.swipe_id, e.swiped_at, e.gate, e.card_no
FROM raw.swipes AS e
WHERE e.landed_at >= :interval_start AND e.landed_at < :interval_end
