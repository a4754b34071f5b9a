-- form: script
-- expect: OM316 error `GETDATE()`
-- expect: OM316 error `GETDATE()`
CREATE OR ALTER PROCEDURE dw.usp_LoadDimAgent
AS
SET NOCOUNT ON;
BEGIN TRAN;

UPDATE d
SET    d.ValidTo = GETDATE(), d.IsCurrent = 0
FROM   dw.DimAgent d
JOIN   stg.Agent s ON s.AgentCode = d.AgentCode
WHERE  d.IsCurrent = 1
  AND (d.Team <> s.Team OR d.Grade <> s.Grade);

INSERT INTO dw.DimAgent (AgentCode, Team, Grade, ValidFrom, ValidTo, IsCurrent)
SELECT s.AgentCode, s.Team, s.Grade, GETDATE(), NULL, 1
FROM   stg.Agent s
LEFT JOIN dw.DimAgent d ON d.AgentCode = s.AgentCode AND d.IsCurrent = 1
WHERE  d.AgentCode IS NULL;

COMMIT TRAN;
