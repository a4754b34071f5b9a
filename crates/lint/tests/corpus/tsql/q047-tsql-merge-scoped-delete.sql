-- form: script
-- expect: none
-- because: One MERGE replaces exactly the day: unique grouped source, day in the key, the by-source delete is scoped to the day; the temp table is guarded and recreated; the clock is an audit column.
DECLARE @BusinessDate date = ?;

SET XACT_ABORT ON;

IF OBJECT_ID('tempdb..#pos') IS NOT NULL DROP TABLE #pos;

SELECT p.BusinessDate,
       p.StoreNo,
       p.TillNo,
       COUNT_BIG(*)      AS Receipts,
       SUM(p.GrossCents) AS GrossCents
INTO #pos
FROM stg.PosReceipt AS p
WHERE p.BusinessDate = @BusinessDate
  AND p.StoreNo IS NOT NULL
  AND p.TillNo IS NOT NULL
GROUP BY p.BusinessDate, p.StoreNo, p.TillNo;

MERGE dw.TillDay WITH (HOLDLOCK) AS t
USING #pos AS s
   ON t.BusinessDate = s.BusinessDate
  AND t.StoreNo      = s.StoreNo
  AND t.TillNo       = s.TillNo
WHEN MATCHED THEN
    UPDATE SET Receipts   = s.Receipts,
               GrossCents = s.GrossCents,
               Gross      = s.GrossCents / 100.0,
               UpdatedAt  = SYSDATETIME()
WHEN NOT MATCHED BY TARGET THEN
    INSERT (BusinessDate, StoreNo, TillNo, Receipts, GrossCents, Gross, UpdatedAt)
    VALUES (s.BusinessDate, s.StoreNo, s.TillNo, s.Receipts, s.GrossCents,
            s.GrossCents / 100.0, SYSDATETIME())
WHEN NOT MATCHED BY SOURCE AND t.BusinessDate = @BusinessDate THEN
    DELETE;

DROP TABLE #pos;
