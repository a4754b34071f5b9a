-- form: script
-- expect: OM305 error `SELECT COALESCE(MAX(ChangedAt), '1900-01-01') FROM dw.FactOrder`
DECLARE @wm datetime2 = (SELECT COALESCE(MAX(ChangedAt), '1900-01-01') FROM dw.FactOrder);
INSERT INTO dw.FactOrder (OrderNo, ChangedAt) SELECT OrderNo, ChangedAt FROM erp.Orders WHERE ChangedAt > @wm;
