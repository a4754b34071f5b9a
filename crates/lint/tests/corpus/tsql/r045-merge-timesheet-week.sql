-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
-- because: the source holds one week, so every run deletes all other weeks from the fact
-- @WeekStart / @WeekEnd come from the SSIS package
MERGE hr.TimesheetFact WITH (HOLDLOCK) AS tgt
USING (
    SELECT  t.EmployeeId,
            t.WorkDate,
            t.ProjectCode,
            SUM(t.Minutes)  AS Minutes,
            MAX(CAST(t.Approved AS int)) AS Approved
    FROM    stg.Timesheet AS t
    WHERE   t.WorkDate >= @WeekStart
      AND   t.WorkDate <  @WeekEnd
      AND   t.EmployeeId  IS NOT NULL
      AND   t.ProjectCode IS NOT NULL
    GROUP BY t.EmployeeId, t.WorkDate, t.ProjectCode
) AS src
ON  tgt.EmployeeId  = src.EmployeeId
AND tgt.WorkDate    = src.WorkDate
AND tgt.ProjectCode = src.ProjectCode
WHEN MATCHED THEN
    UPDATE SET tgt.Minutes  = src.Minutes,
               tgt.Approved = src.Approved
WHEN NOT MATCHED BY TARGET THEN
    INSERT (EmployeeId, WorkDate, ProjectCode, Minutes, Approved)
    VALUES (src.EmployeeId, src.WorkDate, src.ProjectCode, src.Minutes, src.Approved)
WHEN NOT MATCHED BY SOURCE THEN
    DELETE;
