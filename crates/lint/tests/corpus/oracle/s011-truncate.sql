-- form: script
-- expect: OM312 error `TRUNCATE TABLE dwh.f_line`
TRUNCATE TABLE dwh.f_line;
INSERT INTO dwh.f_line (line_no, line_day) SELECT line_no, line_day FROM stg.line;
COMMIT;
