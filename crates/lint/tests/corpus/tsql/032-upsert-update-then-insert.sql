-- form: script
-- expect: none
SET XACT_ABORT ON;
BEGIN TRAN;
UPDATE t
SET t.Amount = s.Amount
FROM mart.BudgetLine AS t
JOIN (SELECT AccountNo, Period, SUM(Amount) AS Amount FROM stg.Budget GROUP BY AccountNo, Period) AS s
  ON s.AccountNo = t.AccountNo AND s.Period = t.Period;

INSERT INTO mart.BudgetLine (AccountNo, Period, Amount)
SELECT s.AccountNo, s.Period, SUM(s.Amount)
FROM stg.Budget AS s
WHERE NOT EXISTS (SELECT 1 FROM mart.BudgetLine AS t WHERE t.AccountNo = s.AccountNo AND t.Period = s.Period)
GROUP BY s.AccountNo, s.Period;
COMMIT TRAN;
