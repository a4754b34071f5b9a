-- form: model
-- expect: OM401 error `p.paid_at >= :interval_start`
/* oncemore
kind: slice
interval: day
time: paid_at
key: [payment_id]
*/
SELECT p.payment_id, p.paid_at, p.cents, m.country
FROM raw.payments AS p
JOIN raw.merchants AS m ON m.merchant_id = p.merchant_id
WHERE p.paid_at >= :interval_start
  AND p.state = 'settled'
