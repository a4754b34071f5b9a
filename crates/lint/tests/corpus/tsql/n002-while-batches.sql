-- form: script
-- expect: OM301 error `INSERT INTO dbo.OrderArchive`
DECLARE @rows int = 1;
WHILE @rows > 0
BEGIN
    INSERT INTO dbo.OrderArchive (OrderId, OrderDate, Total)
    SELECT TOP (5000) o.OrderId, o.OrderDate, o.Total
    FROM dbo.OrderLive AS o
    WHERE o.OrderDate < @Cutoff AND o.Batch = @rows
    ORDER BY o.OrderDate, o.OrderId;
    SET @rows = 0;
END
