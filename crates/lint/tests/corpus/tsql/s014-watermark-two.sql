-- form: script
-- expect: OM305 error `SELECT @a = COUNT(*), @wm = MAX(ChangedAt) FROM dw.FactOrder`
DECLARE @a int, @wm datetime2;
SELECT @a = COUNT(*), @wm = MAX(ChangedAt) FROM dw.FactOrder;
INSERT INTO dw.FactOrder (OrderNo, ChangedAt) SELECT OrderNo, ChangedAt FROM erp.Orders WHERE ChangedAt > @wm;
