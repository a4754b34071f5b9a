-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: shift_day
key: [nurse_id, shift_day]
*/
SELECT nurse_id, shift_day, ward
FROM raw.shifts
WHERE shift_day BETWEEN CAST(:interval_start AS DATE) AND CAST(:interval_end AS DATE) - INTERVAL '1 day'
