-- form: script
-- expect: OM312 error `TRUNCATE TABLE dbo.tblLoanFact`
CREATE OR ALTER PROCEDURE dbo.usp_LoadLoanFact
AS
BEGIN
    SET NOCOUNT ON;

    -- 1) Truncate existing data
    TRUNCATE TABLE dbo.tblLoanFact;

    -- 2) Reload data
    INSERT INTO dbo.tblLoanFact (loan_date, branch_id, acct_id, loan_amt)
    SELECT s.loan_date, s.branch_id, s.acct_id, s.loan_amt
    FROM dbo.stg_loan AS s
    ORDER BY 1, 2, 3;
END;
GO
