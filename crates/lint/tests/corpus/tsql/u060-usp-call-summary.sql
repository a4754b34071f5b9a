-- form: script
-- expect: none
-- one-day rebuild of support.CallSummary; table is created on first use
IF OBJECT_ID('support.CallSummary', 'U') IS NULL
    CREATE TABLE support.CallSummary (
        CallDate   date        NOT NULL,
        QueueCode  varchar(20) NOT NULL,
        Calls      int         NOT NULL,
        WaitSecMax int         NULL,
        LoadedAt   datetime2   NOT NULL CONSTRAINT DF_CallSummary_LoadedAt DEFAULT (SYSUTCDATETIME()),
        CONSTRAINT PK_CallSummary PRIMARY KEY (CallDate, QueueCode)
    );
GO
CREATE OR ALTER PROCEDURE support.RebuildCallSummary @CallDate date
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
BEGIN TRANSACTION;

DELETE support.CallSummary WHERE CallDate = @CallDate;

INSERT support.CallSummary (CallDate, QueueCode, Calls, WaitSecMax)
SELECT  c.CallDate,
        ISNULL(q.QueueCode, 'NONE'),
        COUNT(*),
        MAX(DATEDIFF(SECOND, c.QueuedAt, c.AnsweredAt))
FROM    support.Call AS c
LEFT JOIN support.Queue AS q ON q.QueueId = c.QueueId
WHERE   c.CallDate = @CallDate
GROUP BY c.CallDate, ISNULL(q.QueueCode, 'NONE');

COMMIT TRANSACTION;
GO
