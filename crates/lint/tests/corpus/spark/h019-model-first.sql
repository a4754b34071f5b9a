-- form: model
-- expect: OM204 error `first(l.courier)`
/* oncemore
kind: slice
interval: day
time: shipped_on
key: [parcel_no]
*/
SELECT l.parcel_no, l.shipped_on, first(l.courier) AS courier, sum(l.weight_g) AS weight_g
FROM raw.parcel_leg AS l
WHERE l.shipped_on >= :interval_start AND l.shipped_on < :interval_end
GROUP BY l.parcel_no, l.shipped_on
