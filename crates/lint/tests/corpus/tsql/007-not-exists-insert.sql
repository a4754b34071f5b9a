-- form: script
-- expect: OM304 error `NOT EXISTS (SELECT 1 FROM dbo.DimCustomer AS d WHERE d.CustomerNo = s.CustomerNo)`
INSERT INTO dbo.DimCustomer (CustomerNo, Name, City, Segment)
SELECT s.CustomerNo, s.Name, s.City, s.Segment
FROM stg.Customer AS s
WHERE NOT EXISTS (SELECT 1 FROM dbo.DimCustomer AS d WHERE d.CustomerNo = s.CustomerNo);
