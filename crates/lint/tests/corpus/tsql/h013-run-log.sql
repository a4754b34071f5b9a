-- form: script
-- expect: none
INSERT INTO etl.RunLog (RunID, PackageName, StartedAt)
VALUES (@RunID, 'LoadFinance', SYSUTCDATETIME());
