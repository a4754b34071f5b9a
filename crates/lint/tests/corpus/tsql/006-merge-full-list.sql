-- form: script
-- expect: none
;WITH src AS (
    SELECT DeptCode, MAX(DeptName) AS DeptName, MAX(CostCentre) AS CostCentre
    FROM stg.Department
    GROUP BY DeptCode
)
MERGE dbo.DimDepartment AS tgt
USING src
ON tgt.DeptCode = src.DeptCode
WHEN MATCHED AND (tgt.DeptName <> src.DeptName OR tgt.CostCentre <> src.CostCentre) THEN
    UPDATE SET DeptName = src.DeptName, CostCentre = src.CostCentre
WHEN NOT MATCHED BY TARGET THEN
    INSERT (DeptCode, DeptName, CostCentre) VALUES (src.DeptCode, src.DeptName, src.CostCentre)
WHEN NOT MATCHED BY SOURCE THEN
    DELETE;
