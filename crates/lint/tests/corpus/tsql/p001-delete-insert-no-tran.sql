-- form: script
-- expect: OM310 error `DELETE FROM [mart].[Stock]`
CREATE PROCEDURE [mart].[LoadStock] @day date
AS
BEGIN
  DELETE FROM [mart].[Stock] WHERE [StockDate] = @day;

  INSERT INTO [mart].[Stock] ([StockDate], [Sku], [Qty])
  SELECT [StockDate], [Sku], SUM([Qty])
  FROM [stg].[Stock]
  WHERE [StockDate] = @day
  GROUP BY [StockDate], [Sku];
END
GO
