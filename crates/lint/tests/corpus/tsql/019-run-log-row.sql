-- form: script
-- expect: none
INSERT INTO etl.RunLog (RunId, StepName, StartedAt, RowsRead)
VALUES (@RunId, N'LoadInvoices', SYSUTCDATETIME(), @RowsRead);
