-- form: script
-- expect: none
IF OBJECT_ID('tempdb..#open') IS NOT NULL DROP TABLE #open;

SELECT c.ClaimNo, MIN(c.OpenedOn) AS OpenedOn, SUM(p.Amount) AS Paid
INTO #open
FROM dbo.Claim c
LEFT JOIN dbo.ClaimPayment p ON p.ClaimNo = c.ClaimNo
WHERE c.ClosedOn IS NULL
GROUP BY c.ClaimNo;

CREATE CLUSTERED INDEX ix ON #open (ClaimNo);

UPDATE r
SET    r.PaidToDate = o.Paid
FROM   dbo.ClaimReserve r
JOIN   #open o ON o.ClaimNo = r.ClaimNo;
