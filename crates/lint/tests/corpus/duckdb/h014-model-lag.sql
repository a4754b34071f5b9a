-- form: model
-- expect: OM407 error `lag(e.balance) OVER (PARTITION BY e.account_no ORDER BY e.booked_at, e.entry_no)`
/* oncemore
kind: slice
interval: day
time: booked_at
key: [entry_no]
*/
SELECT e.entry_no, e.account_no, e.booked_at,
       e.balance - lag(e.balance) OVER (PARTITION BY e.account_no ORDER BY e.booked_at, e.entry_no) AS moved
FROM raw.entry AS e
WHERE e.booked_at >= :interval_start AND e.booked_at < :interval_end
