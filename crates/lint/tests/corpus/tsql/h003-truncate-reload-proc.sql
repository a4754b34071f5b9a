-- form: script
-- expect: OM312 error `TRUNCATE TABLE [rpt].[StudentRoster]`
CREATE OR ALTER PROCEDURE [rpt].[RefreshStudentRoster]
AS
BEGIN
  SET NOCOUNT ON;

  TRUNCATE TABLE [rpt].[StudentRoster];

  INSERT INTO [rpt].[StudentRoster] ([StudentNumber], [SchoolName], [GradeLevel])
  SELECT s.[StudentNumber], sc.[SchoolName], s.[GradeLevel]
  FROM [sis].[Student] AS s
  INNER JOIN [sis].[School] AS sc ON sc.[SchoolID] = s.[SchoolID]
  WHERE s.[EnrollStatus] = 0;
END;
