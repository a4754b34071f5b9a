-- form: model
-- expect: none
/* oncemore
kind: merge
interval: day
time: day
key: [day, parking_id]
*/
SELECT s.day, s.parking_id, count(*) AS stays, sum(s.minutes) AS minutes
FROM raw.parking_stays AS s
WHERE s.day >= :interval_start AND s.day < :interval_end
GROUP BY s.day, s.parking_id
