-- form: script
-- expect: none
CREATE OR ALTER VIEW mart.vOpenClaims
AS
SELECT c.ClaimId, c.PolicyId, c.OpenedOn, SUM(p.Amount) AS Paid
FROM ods.Claim AS c
LEFT JOIN ods.ClaimPayment AS p ON p.ClaimId = c.ClaimId
WHERE c.ClosedOn IS NULL
GROUP BY c.ClaimId, c.PolicyId, c.OpenedOn;
GO
