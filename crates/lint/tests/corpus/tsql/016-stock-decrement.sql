-- form: script
-- expect: OM309 error `i.QtyOnHand = i.QtyOnHand - s.Qty`
UPDATE i
SET i.QtyOnHand = i.QtyOnHand - s.Qty
FROM dbo.Inventory AS i
JOIN (
    SELECT ProductId, SUM(Qty) AS Qty
    FROM dbo.Shipment
    WHERE ShippedOn = @day
    GROUP BY ProductId
) AS s ON s.ProductId = i.ProductId;
