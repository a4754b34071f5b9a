-- form: script
-- expect: OM301 error `INSERT INTO mart.StockMonth`
DECLARE @full bit = $(full);
IF @full = 1
BEGIN
  INSERT INTO mart.StockMonth (MonthStart, Sku, Qty)
  SELECT DATEFROMPARTS(YEAR(s.StockDate), MONTH(s.StockDate), 1), s.Sku, SUM(s.Qty)
  FROM mart.Stock s
  WHERE s.StockDate >= @from AND s.StockDate < @to
  GROUP BY DATEFROMPARTS(YEAR(s.StockDate), MONTH(s.StockDate), 1), s.Sku;
END
