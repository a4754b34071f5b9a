-- form: script
-- expect: OM306 error `MERGE dbo.DimGeography`
MERGE dbo.DimGeography AS t
USING (SELECT PostCode, MAX(City) AS City, MAX(Region) AS Region FROM stg.Address GROUP BY PostCode) AS s
ON t.PostCode = s.PostCode
WHEN NOT MATCHED BY TARGET THEN
    INSERT (PostCode, City, Region) VALUES (s.PostCode, s.City, s.Region);
