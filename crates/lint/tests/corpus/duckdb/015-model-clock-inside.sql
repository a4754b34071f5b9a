-- form: model
-- expect: OM101 error `now()`
/* oncemore
kind: slice
interval: day
time: created_at
key: [ticket_id]
*/
SELECT ticket_id, created_at, queue,
       date_diff('hour', created_at, now()) AS hours_open
FROM raw.tickets
WHERE created_at >= :interval_start AND created_at < :interval_end
