-- form: model
-- expect: OM206 error `LIMIT 500`
/* oncemore
kind: slice
interval: day
time: seen_on
key: [visitor]
*/
SELECT visitor, seen_on, page
FROM raw.visits
WHERE seen_on >= :interval_start AND seen_on < :interval_end
LIMIT 500
