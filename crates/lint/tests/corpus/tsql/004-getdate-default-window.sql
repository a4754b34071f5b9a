-- form: script
-- expect: OM101 error `GETDATE()`
-- expect: OM101 error `GETDATE()`
DECLARE @from date = DATEADD(day, -1, CAST(GETDATE() AS date));
DECLARE @to date = CAST(GETDATE() AS date);

SET XACT_ABORT ON;
BEGIN TRANSACTION;
DELETE FROM mart.CallDay WHERE CallDate >= @from AND CallDate < @to;
INSERT INTO mart.CallDay (CallDate, QueueId, Calls)
SELECT CallDate, QueueId, COUNT(*)
FROM ods.Call
WHERE CallDate >= @from AND CallDate < @to
GROUP BY CallDate, QueueId;
COMMIT TRANSACTION;
