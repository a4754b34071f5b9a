-- form: script
-- expect: OM317 error `WHEN NOT MATCHED BY SOURCE THEN DELETE`
-- because: the source is one day, so all other days of the table are deleted.
ALTER PROCEDURE [wh].[usp_MergeDailyStock]
    @StockDate date
AS
SET NOCOUNT, XACT_ABORT ON;

-- one row per day / warehouse / item
MERGE [wh].[DailyStock] WITH (HOLDLOCK) AS tgt
USING (
    SELECT  m.StockDate,
            m.WarehouseCode,
            m.ItemNo,
            SUM(m.QtyIn - m.QtyOut) AS Qty
    FROM    [stg].[StockMovement] AS m
    WHERE   m.StockDate = @StockDate
      AND   m.WarehouseCode IS NOT NULL
      AND   m.ItemNo IS NOT NULL
    GROUP BY m.StockDate, m.WarehouseCode, m.ItemNo
) AS src
   ON  tgt.StockDate     = src.StockDate
   AND tgt.WarehouseCode = src.WarehouseCode
   AND tgt.ItemNo        = src.ItemNo
WHEN MATCHED THEN
    UPDATE SET tgt.Qty = src.Qty
WHEN NOT MATCHED BY TARGET THEN
    INSERT (StockDate, WarehouseCode, ItemNo, Qty)
    VALUES (src.StockDate, src.WarehouseCode, src.ItemNo, src.Qty)
WHEN NOT MATCHED BY SOURCE THEN
    DELETE;
