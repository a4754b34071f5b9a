-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: closed_at
key: [ticket_id]
*/
SELECT t.ticket_id, t.closed_at, t.queue,
       age(t.closed_at, t.opened_at) AS lead_time,
       CASE WHEN t.closed_at - t.opened_at > interval '3 days' THEN 'slow' ELSE 'now' END AS pace
FROM raw.tickets AS t
WHERE t.closed_at >= :interval_start AND t.closed_at < :interval_end
