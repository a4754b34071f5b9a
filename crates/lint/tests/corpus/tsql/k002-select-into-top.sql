-- form: script
-- expect: OM206 error `TOP 5000`
IF OBJECT_ID('dbo.CallSample') IS NOT NULL DROP TABLE dbo.CallSample;

SELECT TOP 5000 CallId, AgentId, DurationSec
INTO dbo.CallSample
FROM dbo.CallLog WITH (NOLOCK)
WHERE DurationSec > 0;
