-- form: script
-- expect: none
MERGE INTO [rpt].[CallVolume] AS [Target]
USING (
    SELECT [CallDate], [SkillGroup], COUNT_BIG(*) AS [Calls], AVG([WaitSec]) AS [AvgWait]
    FROM [stg].[Call]
    WHERE [CallDate] >= @DateFrom AND [CallDate] < @DateTo
    GROUP BY [CallDate], [SkillGroup]
) AS [Source]
ON [Target].[CallDate] = [Source].[CallDate] AND [Target].[SkillGroup] = [Source].[SkillGroup]
WHEN MATCHED THEN
    UPDATE SET [Calls] = [Source].[Calls], [AvgWait] = [Source].[AvgWait], [ModifiedBy] = SYSTEM_USER, [ModifiedOn] = SYSDATETIME()
WHEN NOT MATCHED THEN
    INSERT ([CallDate], [SkillGroup], [Calls], [AvgWait], [ModifiedBy], [ModifiedOn])
    VALUES ([Source].[CallDate], [Source].[SkillGroup], [Source].[Calls], [Source].[AvgWait], SYSTEM_USER, SYSDATETIME());
