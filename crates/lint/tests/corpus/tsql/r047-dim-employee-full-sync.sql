-- form: script
-- expect: none
-- because: The stage is truncated and filled in the script, the merge source is the full list grouped on its key, so DELETE of missing rows is right; the hash only skips unchanged rows.
SET NOCOUNT ON;
SET XACT_ABORT ON;

BEGIN TRANSACTION;

TRUNCATE TABLE stg.Employee;

INSERT INTO stg.Employee (EmployeeNo, FullName, CostCentre, ManagerNo)
SELECT  [employee_no]
      , MAX(LTRIM(RTRIM([full_name])))
      , MAX([cost_centre])
      , MAX([manager_no])
FROM    [HRSource].[dbo].[v_employee_all]
WHERE   [employee_no] IS NOT NULL
GROUP BY [employee_no];

;WITH src AS
(
    SELECT  EmployeeNo, FullName, CostCentre, ManagerNo,
            HASHBYTES('SHA2_256', CONCAT(FullName, N'|', CostCentre, N'|', ManagerNo)) AS RowHash
    FROM    stg.Employee
)
MERGE dwh.DimEmployee WITH (HOLDLOCK) AS d
USING src AS s
   ON d.EmployeeNo = s.EmployeeNo
WHEN MATCHED AND d.RowHash <> s.RowHash THEN
    UPDATE SET d.FullName   = s.FullName
             , d.CostCentre = s.CostCentre
             , d.ManagerNo  = s.ManagerNo
             , d.RowHash    = s.RowHash
WHEN NOT MATCHED BY TARGET THEN
    INSERT (EmployeeNo, FullName, CostCentre, ManagerNo, RowHash)
    VALUES (s.EmployeeNo, s.FullName, s.CostCentre, s.ManagerNo, s.RowHash)
WHEN NOT MATCHED BY SOURCE THEN
    DELETE;

COMMIT TRANSACTION;
