-- form: script
-- expect: OM310 error `DELETE FROM dwh.f_line`
BEGIN
  DELETE FROM dwh.f_line WHERE line_day = TO_DATE('&d', 'YYYY-MM-DD');
  COMMIT;
  INSERT INTO dwh.f_line (line_no, line_day) SELECT line_no, line_day FROM stg.line WHERE line_day = TO_DATE('&d', 'YYYY-MM-DD');
  COMMIT;
END;
/
