-- form: script
-- expect: OM301 error `INSERT INTO metrics.table_size`
\set ON_ERROR_STOP on
DO $$
DECLARE
  s record;
BEGIN
  FOR s IN SELECT schema_name FROM metrics.watched_schema ORDER BY schema_name LOOP
    INSERT INTO metrics.table_size (measured_on, schema_name, table_name, bytes)
    SELECT m.measured_on, m.schema_name, m.table_name, m.bytes
    FROM metrics.size_feed m
    WHERE m.schema_name = s.schema_name;
  END LOOP;
END;
$$;
