-- form: script
-- expect: none
UPDATE t SET t.Name = s.Name, t.DwUpdatedOnUtc = SYSUTCDATETIME() FROM dw.Dim AS t JOIN (SELECT Code, MAX(Name) AS Name FROM stg.Dim GROUP BY Code) AS s ON s.Code = t.Code;
