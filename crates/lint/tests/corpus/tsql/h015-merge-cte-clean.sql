-- form: script
-- expect: none
;WITH src AS (
	SELECT DepartmentCode, MAX(DepartmentName) AS DepartmentName, MAX(CostCentre) AS CostCentre
	FROM hr.DepartmentExport
	GROUP BY DepartmentCode
)
MERGE INTO dwh.DimDepartment AS t
USING src AS s
	ON t.DepartmentCode = s.DepartmentCode
WHEN MATCHED AND (t.DepartmentName <> s.DepartmentName OR t.CostCentre <> s.CostCentre) THEN
	UPDATE SET DepartmentName = s.DepartmentName, CostCentre = s.CostCentre, UpdatedAt = SYSDATETIME()
WHEN NOT MATCHED BY TARGET THEN
	INSERT (DepartmentCode, DepartmentName, CostCentre, UpdatedAt)
	VALUES (s.DepartmentCode, s.DepartmentName, s.CostCentre, SYSDATETIME())
WHEN NOT MATCHED BY SOURCE THEN DELETE
OUTPUT $action, inserted.DepartmentCode;
