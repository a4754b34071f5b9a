-- form: model
-- expect: OM402 error `e.event_ts BETWEEN :interval_start AND :interval_end`
/* oncemore
kind: slice
interval: hour
time: event_ts
key: [event_id]
*/
SELECT e.event_id, e.event_ts, e.kind, d.depot
FROM raw.depot_events AS e
JOIN raw.depots AS d ON d.depot_id = e.depot_id
WHERE e.event_ts BETWEEN :interval_start AND :interval_end
  AND e.kind <> 'ping'
