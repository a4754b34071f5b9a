-- form: script
-- expect: OM301 error `INSERT INTO mart.query_cost`
CREATE OR REPLACE PROCEDURE ops.load_cost(run_day DATE)
BEGIN
  INSERT INTO mart.query_cost (day, user_email, tib)
  SELECT DATE(creation_time), user_email, SUM(total_bytes_billed) / POW(1024, 4)
  FROM ops.jobs_export
  WHERE DATE(creation_time) = run_day
  GROUP BY 1, 2;
END;
