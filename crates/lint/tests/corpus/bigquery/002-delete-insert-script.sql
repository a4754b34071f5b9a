-- form: script
-- expect: OM310 error `DELETE FROM monitoring.column_counts`
-- the day is deleted first so that the task can be run again
DELETE FROM monitoring.column_counts
WHERE submission_date = @submission_date;

INSERT INTO monitoring.column_counts (submission_date, dataset, table_name, columns)
SELECT
  @submission_date,
  table_schema,
  table_name,
  COUNT(*)
FROM `acme.meta.columns_copy`
WHERE snapshot_date = @submission_date
GROUP BY table_schema, table_name;
