-- form: script
-- expect: OM307 warning `USING stg.Employee…`
MERGE dbo.DimEmployee AS tgt
USING stg.Employee AS src
ON tgt.EmployeeNo = src.EmployeeNo
WHEN MATCHED THEN UPDATE SET
    tgt.FullName = src.FullName,
    tgt.Department = src.Department
WHEN NOT MATCHED BY TARGET THEN
    INSERT (EmployeeNo, FullName, Department)
    VALUES (src.EmployeeNo, src.FullName, src.Department);
