-- form: script
-- expect: OM403 error `arrived_on = p_day`
CREATE OR REPLACE FUNCTION mart.load(p_day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM mart.line WHERE order_day = p_day;
  INSERT INTO mart.line (order_no, line_no, order_day, amount)
  SELECT order_no, line_no, order_day, amount FROM stg.line WHERE arrived_on = p_day;
END $$;
