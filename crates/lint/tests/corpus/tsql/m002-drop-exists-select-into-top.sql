-- form: script
-- expect: OM206 error `TOP (1000)`
DROP TABLE IF EXISTS qa.SampleClaims;
GO
SELECT TOP (1000) ClaimNo, Amount, ClaimDate
INTO qa.SampleClaims
FROM dbo.Claim
WHERE Amount > 5000;
GO
