-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: day
key: [day, account]
*/
SELECT CAST(:interval_start AS DATE) AS day,
       coalesce(p.account, m.account) AS account,
       coalesce(p.balance, 0) + coalesce(m.cents, 0) AS balance
FROM previous(gold.balance) AS p
FULL OUTER JOIN (
  SELECT account, sum(cents) AS cents
  FROM raw.movements
  WHERE booked_on >= :interval_start AND booked_on < :interval_end
  GROUP BY account
) AS m ON m.account = p.account
