-- form: model
-- expect: none
/* oncemore
kind: slice
interval: hour
time: entered_at
key: [ticket_no]
*/
WITH visits AS (
  SELECT v.ticket_no, v.garage, v.entered_at, v.left_at, v.fee_cents
  FROM raw.parking_visit AS v
  WHERE v.entered_at >= :interval_start AND v.entered_at < :interval_end
)
SELECT v.ticket_no, g.city, v.entered_at, v.left_at - v.entered_at AS stay, v.fee_cents
FROM visits AS v
JOIN ref.garage AS g ON g.garage = v.garage
