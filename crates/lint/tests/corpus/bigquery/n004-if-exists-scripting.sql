-- form: script
-- expect: none
DECLARE d DATE DEFAULT @run_date;
IF EXISTS (SELECT 1 FROM staging.orders WHERE order_date = d) THEN
  BEGIN TRANSACTION;
  DELETE FROM mart.orders WHERE order_date = d;
  INSERT INTO mart.orders (order_id, order_date, total)
  SELECT order_id, order_date, total FROM staging.orders WHERE order_date = d;
  COMMIT TRANSACTION;
END IF;
