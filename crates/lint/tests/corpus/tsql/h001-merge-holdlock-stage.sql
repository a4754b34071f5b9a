-- form: script
-- expect: OM307 warning `USING [stg].[Product]…`
CREATE OR ALTER PROCEDURE [etl].[usp_MergeProduct]
AS
SET NOCOUNT, XACT_ABORT ON;
BEGIN TRY
	BEGIN TRAN

	MERGE [dwh].[DimProduct] WITH (HOLDLOCK) AS tgt
	USING [stg].[Product] AS src
		ON tgt.[ProductCode] = src.[ProductCode]
	WHEN MATCHED THEN
		UPDATE SET tgt.[Name] = src.[Name], tgt.[Colour] = src.[Colour]
	WHEN NOT MATCHED BY TARGET THEN
		INSERT ([ProductCode], [Name], [Colour])
		VALUES (src.[ProductCode], src.[Name], src.[Colour]);

	COMMIT TRAN
END TRY
BEGIN CATCH
	IF @@TRANCOUNT > 0 ROLLBACK TRAN;
	THROW;
END CATCH
GO
