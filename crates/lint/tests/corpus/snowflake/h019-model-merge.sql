-- form: model
-- expect: none
/* oncemore
kind: merge
interval: day
time: modified_at
key: [lead_id]
order_by: [modified_at]
*/
SELECT l.lead_id, l.modified_at, l.stage, l.owner_email
FROM raw.lead_change AS l
WHERE l.modified_at >= :interval_start AND l.modified_at < :interval_end
