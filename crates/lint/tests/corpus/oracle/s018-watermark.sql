-- form: script
-- expect: OM305 error `SELECT NVL(MAX(changed_at), TIMESTAMP '1900-01-01 00:00:00') INTO l_wm FROM dwh.f_order`
DECLARE
  l_wm TIMESTAMP;
BEGIN
  SELECT NVL(MAX(changed_at), TIMESTAMP '1900-01-01 00:00:00') INTO l_wm FROM dwh.f_order;
  INSERT INTO dwh.f_order (order_no, changed_at) SELECT order_no, changed_at FROM erp.orders WHERE changed_at > l_wm;
  COMMIT;
END;
/
