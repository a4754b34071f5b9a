-- form: script
-- expect: none
IF OBJECT_ID('tempdb..#lines') IS NOT NULL DROP TABLE #lines;

SELECT l.OrderId, l.LineNo, l.Amount
INTO #lines
FROM ods.OrderLine AS l
WHERE l.OrderDate >= @from AND l.OrderDate < @to;

SET XACT_ABORT ON;
BEGIN TRAN;
DELETE FROM mart.OrderAmount WHERE OrderDate >= @from AND OrderDate < @to;
INSERT INTO mart.OrderAmount (OrderId, OrderDate, Amount)
SELECT o.OrderId, o.OrderDate, SUM(x.Amount)
FROM #lines AS x
JOIN ods.OrderHeader AS o ON o.OrderId = x.OrderId
WHERE o.OrderDate >= @from AND o.OrderDate < @to
GROUP BY o.OrderId, o.OrderDate;
COMMIT TRAN;
