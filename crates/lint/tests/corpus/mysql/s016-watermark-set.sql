-- form: script
-- expect: OM305 error `SELECT MAX(changed_at) FROM dw.fact_order`
SET @wm = (SELECT MAX(changed_at) FROM dw.fact_order);
INSERT INTO dw.fact_order (order_no, changed_at) SELECT order_no, changed_at FROM erp.orders WHERE changed_at > @wm;
