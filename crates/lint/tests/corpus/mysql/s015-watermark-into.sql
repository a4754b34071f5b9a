-- form: script
-- expect: OM305 error `SELECT MAX(changed_at) INTO @wm FROM dw.fact_order`
SELECT MAX(changed_at) INTO @wm FROM dw.fact_order;
INSERT INTO dw.fact_order (order_no, changed_at) SELECT order_no, changed_at FROM erp.orders WHERE changed_at > @wm;
