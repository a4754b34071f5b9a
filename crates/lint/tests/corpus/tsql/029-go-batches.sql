-- form: script
-- expect: OM314 warning `CREATE TABLE dbo.AuditFinding`
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE dbo.AuditFinding (
    FindingId int IDENTITY(1, 1) NOT NULL PRIMARY KEY,
    Area varchar(40) NOT NULL,
    Finding nvarchar(400) NOT NULL
)
GO
INSERT INTO dbo.AuditFinding (Area, Finding)
SELECT a.Area, a.Finding
FROM import.AuditSheet AS a
WHERE a.Status = 'confirmed'
GO
