-- form: script
-- expect: none
SET XACT_ABORT ON;
BEGIN TRANSACTION;
WITH src AS (
    SELECT EmployeeNo, MAX(Department) AS Department, MAX(Grade) AS Grade
    FROM stg.Employee
    GROUP BY EmployeeNo
)
MERGE hr.Employee WITH (HOLDLOCK) AS tgt
USING src ON tgt.EmployeeNo = src.EmployeeNo
WHEN MATCHED AND (tgt.Department <> src.Department OR tgt.Grade <> src.Grade)
    THEN UPDATE SET Department = src.Department, Grade = src.Grade, ModifiedOn = SYSUTCDATETIME()
WHEN NOT MATCHED THEN INSERT (EmployeeNo, Department, Grade, ModifiedOn)
    VALUES (src.EmployeeNo, src.Department, src.Grade, SYSUTCDATETIME());
COMMIT TRANSACTION;
