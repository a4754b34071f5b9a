-- form: script
-- expect: OM314 warning `INTO work.OpenOrders`
SELECT o.OrderId, o.CustomerId, SUM(l.Amount) AS Amount
INTO work.OpenOrders
FROM ods.OrderHeader AS o
JOIN ods.OrderLine AS l ON l.OrderId = o.OrderId
WHERE o.State = 'open'
GROUP BY o.OrderId, o.CustomerId;
