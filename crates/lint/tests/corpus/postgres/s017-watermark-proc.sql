-- form: script
-- expect: OM305 error `SELECT max(changed_at) INTO v_wm FROM dw.fact_order`
CREATE PROCEDURE dw.load() LANGUAGE plpgsql AS $$
DECLARE v_wm timestamptz;
BEGIN
  SELECT max(changed_at) INTO v_wm FROM dw.fact_order;
  INSERT INTO dw.fact_order (order_no, changed_at) SELECT order_no, changed_at FROM erp.orders WHERE changed_at > v_wm;
END $$;
