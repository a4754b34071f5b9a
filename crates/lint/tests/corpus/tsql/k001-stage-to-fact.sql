-- form: script
-- expect: OM301 error `INSERT INTO [DW].[FactPayment]`
CREATE PROCEDURE [DW].[LoadFactPayment] @RunDate date
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    INSERT INTO [DW].[FactPayment] ([PaymentNo], [PayDate], [MemberKey], [Amount])
    SELECT p.[PaymentNo], p.[PayDate], ISNULL(m.[MemberKey], -1), p.[Amount]
    FROM [Stg].[Payment] AS p
    LEFT JOIN [DW].[DimMember] AS m ON m.[MemberNo] = p.[MemberNo]
    WHERE p.[PayDate] = @RunDate;
END
GO
