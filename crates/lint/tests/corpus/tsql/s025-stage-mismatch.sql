-- form: script
-- expect: OM403 error `o.LoadDay = @Day`
SET XACT_ABORT ON;
SELECT o.OrderNo, o.OrderDay, o.Amount INTO #d FROM stg.Orders AS o WHERE o.LoadDay = @Day;
BEGIN TRAN;
DELETE FROM dw.Orders WHERE OrderDay = @Day;
INSERT INTO dw.Orders (OrderNo, OrderDay, Amount) SELECT OrderNo, OrderDay, Amount FROM #d;
COMMIT;
