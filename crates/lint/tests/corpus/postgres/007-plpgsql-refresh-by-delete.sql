-- form: script
-- expect: none
CREATE OR REPLACE FUNCTION reporting.refresh_branch_day(p_day date)
RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
  n integer;
BEGIN
  DELETE FROM reporting.branch_day WHERE day = p_day;

  INSERT INTO reporting.branch_day (day, branch_id, loans, returns)
  SELECT p_day,
         b.branch_id,
         count(*) FILTER (WHERE e.kind = 'loan'),
         count(*) FILTER (WHERE e.kind = 'return')
  FROM library.branch b
  LEFT JOIN library.event e ON e.branch_id = b.branch_id AND e.day = p_day
  GROUP BY b.branch_id;

  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END;
$$;
