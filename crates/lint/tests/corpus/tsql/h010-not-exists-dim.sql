-- form: script
-- expect: OM304 error `NOT EXISTS (SELECT 1 FROM dwh.DimGeography g WHERE g.PostCode = s.PostCode)`
INSERT dwh.DimGeography (PostCode, Town, County)
SELECT s.PostCode, MAX(s.Town), MAX(s.County)
FROM stg.Address s
WHERE NOT EXISTS (SELECT 1 FROM dwh.DimGeography g WHERE g.PostCode = s.PostCode)
GROUP BY s.PostCode;
